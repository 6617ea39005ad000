import { type Document, parseAllDocuments } from 'yaml';
import { messageOf } from '../../../machines/values/message-of.ts';
import { outOfBounds, TOO_DEEP } from '../../configure/configuration/document-bounds.ts';
import { KUBERNETES_YAML } from '../../configure/configuration/kubernetes-yaml.ts';

/** One document of a manifest: its value, or why it cannot be parsed. Numbers count from 1; empty documents are left out. */
export type ParsedDocument =
  { number: number; value: unknown; problem?: undefined } | { number: number; value?: undefined; problem: string };

const OPTIONS = { ...KUBERNETES_YAML, uniqueKeys: false, logLevel: 'silent', prettyErrors: false } as const;

/** A part of the text, from one `---` line to the next. */
interface Chunk {
  text: string;
  /** Lines before it. */
  line: number;
}

/** Parses YAML or JSON text; a document that cannot be parsed does not affect the others. Throws nothing. */
export function parseDocuments(text: string): ParsedDocument[] {
  const json = parseJson(text);
  if (json !== undefined) return [checked(json, 1)];
  const parsed: ParsedDocument[] = [];
  for (const chunk of chunks(text)) parseChunk(chunk, parsed);
  return parsed;
}

/** The value of JSON text that is a list or an object; undefined when it is none: it may be YAML's flow style, whose errors name line and column. */
export function parseJson(text: string): object | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as object;
  } catch {
    return undefined;
  }
}

function parseChunk(chunk: Chunk, parsed: ParsedDocument[]): void {
  try {
    for (const document of documentsOf(chunk.text)) {
      const number = parsed.length + 1;
      const problem = document.errors[0];
      if (problem) parsed.push({ number, problem: place(problem.message, problem.pos[0], chunk) });
      else {
        const read = toValue(document, number);
        if (read.value !== null) parsed.push(read);
      }
    }
  } catch (error) {
    parsed.push({ number: parsed.length + 1, problem: textOf(error) });
  }
}

/** The parser calls itself for each level, too. */
function textOf(error: unknown): string {
  return error instanceof RangeError ? TOO_DEEP : messageOf(error);
}

/** A value that those who walk it can bear. */
function checked(value: unknown, number: number): ParsedDocument {
  const problem = outOfBounds(value);
  return problem === undefined ? { number, value } : { number, problem };
}

/**
 * The marker `---` at the start of a line always starts a document, even inside what a missing quote left open:
 * splitting there first keeps a broken document from swallowing the next.
 */
function chunks(text: string): Chunk[] {
  const found: Chunk[] = [];
  let current: string[] = [];
  let line = 0;
  // All lines so far are comments, blank or directives, and one is a directive: `---` ends the directives.
  let onlyDirectives = false;
  let body = false;
  const end = (next: number): void => {
    if (current.some((content) => content.trim() !== '' && !content.startsWith('#'))) {
      found.push({ text: current.join('\n'), line });
    }
    current = [];
    line = next;
    onlyDirectives = false;
    body = false;
  };
  for (const [index, content] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    if (/^---(\s|$)/.test(content) && !onlyDirectives) end(index);
    if (content.startsWith('%')) onlyDirectives ||= !body;
    else if (!/^(#|\s*$)/.test(content)) {
      body = true;
      onlyDirectives = false;
    }
    current.push(content);
  }
  end(0);
  return found;
}

function documentsOf(text: string): Document.Parsed[] {
  const documents = parseAllDocuments(text, OPTIONS);
  return Array.isArray(documents) ? documents : [];
}

function toValue(document: Document.Parsed, number: number): ParsedDocument {
  try {
    return checked(document.toJS({ maxAliasCount: 100 }), number);
  } catch (error) {
    return { number, problem: textOf(error) };
  }
}

function place(message: string, offset: number, chunk: Chunk): string {
  if (message.includes('call stack')) return TOO_DEEP;
  const before = chunk.text.slice(0, offset).split('\n');
  return `${message} at line ${chunk.line + before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
