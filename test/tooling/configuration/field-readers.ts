import { join, relative } from 'node:path';
import ts from 'typescript';

/** Where fields and settings are declared: `actors/configure/configuration`. */
const DECLARED = /\/configuration\/(fields\/[^/]+|kubelet-configuration|kubelet-flags|actorlet-settings)\.ts$/;
/** Checks of values, and what is told of fields, are no effects. */
const NO_READER = /\/configuration\/(rules|effects|fields)\//;

/** Who reads what: places by the dotted path of a field, or by the name of a gate. */
export interface Readers {
  fields: ReadonlyMap<string, readonly string[]>;
  gates: ReadonlyMap<string, readonly string[]>;
}

/**
 * Finds, by the TypeScript compiler's own knowledge of types, each place outside of checks that reads a field of
 * KubeletConfiguration, a flag (`KubeletFlags`) or a setting (`ActorletSettings`), also through `Pick` and through other
 * types that the configuration is handed on as; and each `enabled('NAME')`. Writing to a field is not reading it.
 */
export function findReaders(
  checkout: string,
  files: readonly string[],
  read?: (path: string) => string | undefined,
): Readers {
  const program = programOf(checkout, files, read);
  const finder = new ReaderFinder(program, checkout);
  return { fields: finder.fields, gates: finder.gates };
}

function programOf(
  checkout: string,
  files: readonly string[],
  read: (path: string) => string | undefined = () => undefined,
): ts.Program {
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(join(checkout, 'tsconfig.json'), (path) => ts.sys.readFile(path)).config,
    ts.sys,
    checkout,
  );
  const host = ts.createCompilerHost(options);
  const fromDisk = host.readFile.bind(host);
  host.readFile = (path) => read(path) ?? fromDisk(path);
  return ts.createProgram(
    files.map((file) => join(checkout, file)),
    options,
    host,
  );
}

class ReaderFinder {
  readonly fields = new Map<string, string[]>();
  readonly gates = new Map<string, string[]>();
  /** Members of other types that a configuration was handed on as, and the field that each of them is. */
  private readonly aliases = new Map<ts.Declaration, string>();
  private readonly checker: ts.TypeChecker;
  private readonly checkout: string;

  constructor(program: ts.Program, checkout: string) {
    this.checker = program.getTypeChecker();
    this.checkout = checkout;
    const files = program
      .getSourceFiles()
      .filter((file) => !file.isDeclarationFile && !file.fileName.includes('/node_modules/'));
    // What it is handed on as may be read in a file that comes before.
    for (const file of files) this.walk(file, (node) => this.handOn(node));
    for (const file of files) this.walk(file, (node) => this.read(node));
  }

  private walk(node: ts.Node, visit: (node: ts.Node) => void): void {
    visit(node);
    ts.forEachChild(node, (child) => this.walk(child, visit));
  }

  /** An expression whose type has fields, where another type is expected: that one's members are the same fields. */
  private handOn(node: ts.Node): void {
    if (!ts.isIdentifier(node) && !ts.isPropertyAccessExpression(node)) return;
    // Only where a value is handed on: types of all other names need not be worked out.
    if (
      !ts.isCallExpression(node.parent) &&
      !ts.isPropertyAssignment(node.parent) &&
      !ts.isShorthandPropertyAssignment(node.parent)
    )
      return;
    if (!/config/i.test(ts.isIdentifier(node) ? node.text : node.name.text)) return;
    const expected = ts.isShorthandPropertyAssignment(node.parent)
      ? this.checker.getContextualType(node.parent.parent)?.getProperty(node.parent.name.text)
      : undefined;
    const to =
      expected === undefined
        ? this.checker.getContextualType(node)
        : this.checker.getTypeOfSymbolAtLocation(expected, node);
    for (const member of to?.getProperties() ?? []) {
      const field = this.checker.getTypeAtLocation(node).getProperty(member.name);
      const path = field?.declarations
        ?.map((declaration) => this.pathOf(declaration))
        .find((found) => found !== undefined);
      for (const declaration of member.declarations ?? []) {
        if (path !== undefined && this.pathOf(declaration) === undefined) this.aliases.set(declaration, path);
      }
    }
  }

  private read(node: ts.Node): void {
    if (ts.isPropertyAccessExpression(node) && !isWritten(node)) {
      this.note(node, this.checker.getSymbolAtLocation(node.name));
    } else if (ts.isBindingElement(node) && ts.isObjectBindingPattern(node.parent)) {
      const name = node.propertyName ?? node.name;
      if (ts.isIdentifier(name)) this.note(node, this.checker.getTypeAtLocation(node.parent).getProperty(name.text));
    } else if (ts.isCallExpression(node) && ts.isPropertyAccessExpression(node.expression)) {
      const [name] = node.arguments;
      if (node.expression.name.text === 'enabled' && name !== undefined && ts.isStringLiteral(name))
        add(this.gates, name.text, this.placeOf(node));
    }
  }

  private note(node: ts.Node, symbol: ts.Symbol | undefined): void {
    if (NO_READER.test(node.getSourceFile().fileName)) return;
    for (const declaration of symbol?.declarations ?? []) {
      const path = this.pathOf(declaration) ?? this.aliases.get(declaration);
      if (path !== undefined) add(this.fields, path, this.placeOf(node));
    }
  }

  /** `authentication.webhook.enabled` of the property in the schema, or in the interface of flags or settings. */
  private pathOf(declaration: ts.Node): string | undefined {
    if (!DECLARED.test(declaration.getSourceFile().fileName)) return undefined;
    const names: string[] = [];
    for (let node: ts.Node = declaration; !ts.isSourceFile(node); node = node.parent) {
      if ((ts.isPropertyAssignment(node) || ts.isPropertySignature(node)) && ts.isIdentifier(node.name))
        names.unshift(node.name.text);
    }
    return names.length === 0 ? undefined : names.join('.');
  }

  private placeOf(node: ts.Node): string {
    const file = node.getSourceFile();
    const { line } = file.getLineAndCharacterOfPosition(node.getStart());
    return `${relative(this.checkout, file.fileName)}:${line + 1}`;
  }
}

function isWritten(node: ts.PropertyAccessExpression): boolean {
  const { parent } = node;
  return (
    ts.isBinaryExpression(parent) &&
    parent.left === node &&
    [ts.SyntaxKind.EqualsToken, ts.SyntaxKind.QuestionQuestionEqualsToken].includes(parent.operatorToken.kind)
  );
}

function add(to: Map<string, string[]>, key: string, place: string): void {
  const places = to.get(key);
  if (places === undefined) to.set(key, [place]);
  else places.push(place);
}
