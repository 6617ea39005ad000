import { readFileSync } from 'node:fs';

/** Text of a small file of the kernel; undefined when it is not there or may not be read (a cgroup vanishes at any time). */
export function readSmall(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}

/** One number of a file; `max` and what cannot be read: null, so that callers choose what no limit is. */
export function readNumber(path: string): number | null {
  const text = readSmall(path);
  if (text === undefined) return null;
  const number = Number.parseInt(text, 10);
  return Number.isNaN(number) ? null : number;
}

/** Value of `key` in lines of `key value`; undefined when there is no such line. Nothing is split: stat files are long. */
export function valueOf(text: string, key: string): number | undefined {
  let at = text.startsWith(`${key} `) ? 0 : text.indexOf(`\n${key} `);
  if (at < 0) return undefined;
  if (at > 0 || text[0] === '\n') at++;
  return Number.parseInt(text.slice(at + key.length + 1, at + key.length + 22), 10);
}
