import { readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { parseDocument } from 'yaml';
import { configErrors } from '../../machines/errors/config-errors.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { API_VERSION, isObject, type JsonObject, KIND } from './kubelet-configuration.ts';
import { shown } from './problems.ts';

/** Reads one file (YAML or JSON) and checks apiVersion and kind. Throws CFG001 to CFG004. */
export function readConfigFile(path: string): JsonObject {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new ActorletError(configErrors.unreadable, { where: path, reason: reasonOf(cause) }, { cause });
  }
  if (text.trim() === '') throw new ActorletError(configErrors.empty, { where: path });
  const document = parseDocument(text, { prettyErrors: true });
  const [problem] = document.errors;
  if (problem !== undefined) {
    const reason = problem.message.trim().split('\n')[0]?.replace(/[.:]$/, '') ?? problem.code;
    throw new ActorletError(configErrors.notYaml, { where: path, reason }, { cause: problem });
  }
  const value: unknown = document.toJS();
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
    throw new ActorletError(configErrors.notDirectory, { where: directory, reason: reasonOf(cause) }, { cause });
  }
}

function reasonOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}
