import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { parseDocument } from 'yaml';
import { configErrors } from '../../../machines/errors/config-errors.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { isObject } from '../../../machines/protocol/json-object.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { API_VERSION, type JsonObject, KIND } from './kubelet-configuration.ts';
import { namesPrototype, outOfBounds, TOO_DEEP } from './document-bounds.ts';
import { shown } from './problems.ts';

/** Reads one file (YAML or JSON) and checks apiVersion and kind. Throws CFG001 to CFG004. */
export function readConfigFile(path: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ActorletError(configErrors.unreadable, { where: path, reason: messageOf(cause) }, { cause });
  }
  if (text.trim() === '') throw new ActorletError(configErrors.empty, { where: path });
  const value = parse(path, text);
  if (!isObject(value)) throw new ActorletError(configErrors.notYaml, { where: path, reason: 'it holds no fields' });
  if (value.apiVersion !== API_VERSION || value.kind !== KIND) {
    throw new ActorletError(configErrors.wrongKind, {
      where: path,
      apiVersion: shown('apiVersion', value.apiVersion),
      kind: shown('kind', value.kind),
    });
  }
  return value;
}

function parse(where: string, text: string): unknown {
  const bad = (reason: string, cause?: unknown) =>
    new ActorletError(configErrors.notYaml, { where, reason }, { cause });
  let value: unknown;
  try {
    const document = parseDocument(text, { prettyErrors: true, logLevel: 'silent' });
    const [problem] = document.errors;
    if (problem !== undefined) throw problem;
    value = document.toJS();
  } catch (cause) {
    // The parser calls itself for each level.
    const deep = cause instanceof RangeError || (cause instanceof Error && cause.message.includes('call stack'));
    const reason = messageOf(cause).trim().split('\n')[0] ?? '';
    throw bad(deep ? TOO_DEEP : reason.replace(/[.:]$/, ''), cause);
  }
  const reason = outOfBounds(value) ?? (namesPrototype(value) ? '__proto__ is no name of a field' : undefined);
  if (reason !== undefined) throw bad(reason);
  return value;
}

/** All `*.conf` files below a drop-in folder, in the order in which they are merged (lexical, as Go's WalkDir). */
export function listDropIns(directory: string): string[] {
  try {
    if (!statSync(directory).isDirectory()) return extname(directory) === '.conf' ? [directory] : [];
    const entries = readdirSync(directory, { withFileTypes: true });
    entries.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)));
    return entries.flatMap((entry) => {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) return listDropIns(path);
      return extname(entry.name) === '.conf' ? [path] : [];
    });
  } catch (cause) {
    if (cause instanceof ActorletError) throw cause;
    throw new ActorletError(configErrors.notDirectory, { where: directory, reason: messageOf(cause) }, { cause });
  }
}
