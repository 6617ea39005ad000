import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import type { Mutation } from './mutation.ts';

const root = join(import.meta.dirname, '../../..');
/** Where rules of the agent stand. */
const ROOMS = ['machines', 'actors'];

/** A token of a source: what it says, however it is laid out, and where it stands. */
interface Token {
  text: string;
  start: number;
  end: number;
}

/** A file with a rule broken. */
export interface BrokenSource {
  /** Path from the top of the checkout. */
  file: string;
  source: string;
}

/**
 * The file that has a mutation's rule, with that rule broken. It is found on the syntax tree: in whatever file a function, method or class
 * has the mutation's name, the tokens of its `from` stand there once. Layout, comments, kinds of quotes and commas at
 * the end do not count, nor does anything outside of that function.
 *
 * @throws Error that says which mutation found nothing, or two things, and where it looked
 */
export function brokenSource({ name, within, from, to }: Mutation): BrokenSource {
  const wanted = tokensOf(parse('from.ts', from));
  const looked: string[] = [];
  const found: BrokenSource[] = [];
  for (const [file, source] of sources()) {
    if (!source.includes(within)) continue;
    for (const declaration of declarationsOf(parsed(file, source), within)) {
      looked.push(file);
      const tokens = tokensOf(declaration);
      for (const at of placesOf(wanted, tokens)) {
        const [first, last] = [tokens[at], tokens[at + wanted.length - 1]];
        if (first === undefined || last === undefined) continue;
        found.push({ file, source: source.slice(0, first.start) + to + source.slice(last.end) });
      }
    }
  }
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  if (looked.length === 0) throw new Error(`mutation ${name}: nothing is called ${within} in ${ROOMS.join(' or ')}`);
  const times = found.length === 0 ? 'is not there' : `is there ${found.length} times`;
  throw new Error(`mutation ${name}: in ${within} (${looked.join(', ')}) \`${from}\` ${times}`);
}

let known: ReadonlyMap<string, string> | undefined;
/** Files of the rooms, by path from the top of the checkout. */
function sources(): ReadonlyMap<string, string> {
  known ??= new Map(
    ROOMS.flatMap((room) =>
      readdirSync(join(root, room), { recursive: true, encoding: 'utf8' })
        .filter((path) => path.endsWith('.ts'))
        .sort()
        .map((path) => join(room, path)),
    ).map((path) => [path, readFileSync(join(root, path), 'utf8')]),
  );
  return known;
}

const trees = new Map<string, ts.SourceFile>();
function parsed(file: string, source: string): ts.SourceFile {
  let tree = trees.get(file);
  if (tree === undefined) trees.set(file, (tree = parse(file, source)));
  return tree;
}

function parse(file: string, source: string): ts.SourceFile {
  return ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true, ts.ScriptKind.TS);
}

/** Functions, methods, classes and constants with this name; of those inside each other the outermost. */
function declarationsOf(tree: ts.SourceFile, name: string): ts.Node[] {
  const found: ts.Node[] = [];
  const look = (node: ts.Node): void => {
    const isDeclaration =
      ts.isFunctionDeclaration(node) ||
      ts.isMethodDeclaration(node) ||
      ts.isClassDeclaration(node) ||
      ((ts.isVariableDeclaration(node) || ts.isPropertyDeclaration(node)) && node.initializer !== undefined) ||
      ts.isPropertyAssignment(node);
    if (isDeclaration && node.name?.getText(tree) === name) found.push(node);
    else ts.forEachChild(node, look);
  };
  look(tree);
  return found;
}

/** The tokens of a node, in their order; no comments, and no comma before a closing bracket. */
function tokensOf(top: ts.Node): Token[] {
  const tree = top.getSourceFile();
  const tokens: Token[] = [];
  const take = (node: ts.Node): void => {
    if (node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode) return;
    const children = node.getChildren(tree);
    if (children.length > 0) return children.forEach(take);
    const [start, end] = [node.getStart(tree), node.getEnd()];
    if (end > start) tokens.push({ text: textOf(node, tree), start, end });
  };
  take(top);
  return tokens.filter(({ text }, i) => text !== ',' || !/^[)\]}]$/.test(tokens[i + 1]?.text ?? ''));
}

function textOf(node: ts.Node, tree: ts.SourceFile): string {
  return ts.isStringLiteral(node) ? JSON.stringify(node.text) : node.getText(tree);
}

/** Where a sequence begins in another. */
function placesOf(wanted: readonly Token[], tokens: readonly Token[]): number[] {
  return tokens.flatMap((_, at) => (wanted.every(({ text }, i) => tokens[at + i]?.text === text) ? [at] : []));
}
