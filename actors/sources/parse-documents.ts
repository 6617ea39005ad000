import { type Document, parseAllDocuments, type Tags } from 'yaml';

/** One document of a manifest: its value, or why it cannot be parsed. Numbers count from 1; empty documents are left out. */
export type ParsedDocument =
  { number: number; value: unknown; problem?: undefined } | { number: number; value?: undefined; problem: string };

/**
 * YAML 1.1 as Kubernetes reads it (`0644` is octal, `yes` is true), but without times and base 60:
 * `10:20` and `2024-01-01` are strings there.
 */
const OPTIONS = {
  version: '1.1',
  uniqueKeys: false,
  logLevel: 'silent',
  prettyErrors: false,
  customTags: (tags: Tags): Tags =>
    tags.filter(
      (tag) => typeof tag === 'string' || (tag.tag !== 'tag:yaml.org,2002:timestamp' && tag.format !== 'TIME'),
    ),
} as const;

/** A part of the text, from one `---` line to the next. */
interface Chunk {
  text: string;
  /** Lines before it. */
  line: number;
}

/** Parses YAML or JSON text; a document that cannot be parsed does not affect the others. */
export function parseDocuments(text: string): ParsedDocument[] {
  if (/^\s*[[{]/.test(text)) {
    try {
      return [{ number: 1, value: JSON.parse(text) as unknown }];
    } catch {
      // What is no JSON may be YAML's flow style; if not, YAML's message names line and column.
    }
  }
  const parsed: ParsedDocument[] = [];
  for (const chunk of chunks(text)) {
    for (const document of documentsOf(chunk.text)) {
      const number = parsed.length + 1;
      const problem = document.errors[0];
      if (problem) parsed.push({ number, problem: place(problem.message, problem.pos[0], chunk) });
      else {
        const read = toValue(document, number);
        if (read.value !== null) parsed.push(read);
      }
    }
  }
  return parsed;
}

/**
 * The marker `---` at the start of a line always starts a document, even inside what a missing quote left open:
 * splitting there first keeps a broken document from swallowing the next.
 */
function chunks(text: string): Chunk[] {
  const found: Chunk[] = [];
  let current: string[] = [];
  let line = 0;
  const end = (next: number): void => {
    if (current.some((content) => content.trim() !== '' && !content.startsWith('#'))) {
      found.push({ text: current.join('\n'), line });
    }
    current = [];
    line = next;
  };
  for (const [index, content] of text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .entries()) {
    const onlyDirectives =
      current.every((earlier) => /^(%|#|\s*$)/.test(earlier)) && current.some((e) => e.startsWith('%'));
    if (/^---(\s|$)/.test(content) && !onlyDirectives) end(index);
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
    return { number, value: document.toJS({ maxAliasCount: 100 }) as unknown };
  } catch (error) {
    return { number, problem: error instanceof Error ? error.message : String(error) };
  }
}

function place(message: string, offset: number, chunk: Chunk): string {
  const before = chunk.text.slice(0, offset).split('\n');
  return `${message} at line ${chunk.line + before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}
