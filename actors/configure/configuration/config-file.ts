import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseDocument } from 'yaml';
import { configErrors } from '../../../machines/errors/config-errors.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { isObject } from '../../../machines/values/json-object.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { API_VERSION, type JsonObject, KIND } from './kubelet-configuration.ts';
import { namesPrototype, outOfBounds, TOO_DEEP } from './document-bounds.ts';
import { KUBERNETES_YAML } from './kubernetes-yaml.ts';
import { shown } from './problems.ts';

/** What a file says. */
export interface ConfigDocument {
  value: JsonObject;
  /** Keys that are there twice, in the words of the YAML parser that kubelet has; the last one counts. */
  duplicates: string[];
}

/** Reads one file (YAML or JSON) and checks apiVersion and kind. Throws CFG001 to CFG004. */
export function readConfigFile(path: string): ConfigDocument {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ActorletError(configErrors.unreadable, { where: path, reason: messageOf(cause) }, { cause });
  }
  if (text.trim() === '') throw new ActorletError(configErrors.empty, { where: path });
  const { value, duplicates } = parse(path, text);
  if (!isObject(value)) throw new ActorletError(configErrors.notYaml, { where: path, reason: 'it holds no fields' });
  if (value.apiVersion !== API_VERSION || value.kind !== KIND) {
    throw new ActorletError(configErrors.wrongKind, {
      where: path,
      apiVersion: shown('apiVersion', value.apiVersion),
      kind: shown('kind', value.kind),
    });
  }
  return { value, duplicates };
}

function parse(where: string, text: string): { value: unknown; duplicates: string[] } {
  const bad = (reason: string, cause?: unknown) =>
    new ActorletError(configErrors.notYaml, { where, reason }, { cause });
  let value: unknown;
  const duplicates: string[] = [];
  try {
    // Kubelet's decoders take what begins with a brace for JSON, and nothing else for it. Of YAML the first document alone counts, whatever follows it.
    if (text.trimStart().startsWith('{')) JSON.parse(text);
    const document = parseDocument(text, { ...KUBERNETES_YAML, prettyErrors: true, logLevel: 'silent' });
    for (const problem of document.errors) {
      if (problem.code !== 'DUPLICATE_KEY') throw problem;
      duplicates.push(`line ${problem.linePos?.[0].line ?? 1}: key ${keyAt(text, problem.pos[0])} already set in map`);
    }
    value = document.toJS();
  } catch (cause) {
    // The parser calls itself for each level.
    const deep = cause instanceof RangeError || (cause instanceof Error && cause.message.includes('call stack'));
    const reason = messageOf(cause).trim().split('\n')[0] ?? '';
    throw bad(deep ? TOO_DEEP : reason.replace(/[.:]$/, ''), cause);
  }
  const reason = outOfBounds(value) ?? (namesPrototype(value) ? '__proto__ is no name of a field' : undefined);
  if (reason !== undefined) throw bad(reason);
  return { value, duplicates };
}

/** How names of drop-ins end; a file that is called no more than that is one, too, as Go has it. */
const DROP_IN = '.conf';

/** All `*.conf` files below a drop-in folder, in the order in which they are merged (lexical, as Go's WalkDir). */
export function listDropIns(directory: string): string[] {
  try {
    if (!statSync(directory).isDirectory()) return directory.endsWith(DROP_IN) ? [directory] : [];
    const entries = readdirSync(directory, { withFileTypes: true });
    entries.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
    return entries.flatMap((entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return listDropIns(path);
      return entry.name.endsWith(DROP_IN) ? [path] : [];
    });
  } catch (cause) {
    if (cause instanceof ActorletError) throw cause;
    throw new ActorletError(configErrors.notDirectory, { where: directory, reason: messageOf(cause) }, { cause });
  }
}

/** The key that begins at an offset, quoted. */
function keyAt(text: string, offset: number): string {
  const [word = ''] = /^(?:"[^"\n]*"|'[^'\n]*'|[^\s:]+)/.exec(text.slice(offset, offset + 256)) ?? [];
  return shown('', word.replace(/^["']|["']$/g, ''));
}
