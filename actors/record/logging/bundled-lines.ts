import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** What `bin/bundle.ts` writes beside a file: runs of its lines, `[first line, index of the module, its line there]`. */
interface Lines {
  modules: string[];
  runs: [number, number, number][];
}

/** A place in a module. */
interface Place {
  file: string;
  line: number;
}

/** A file of the bundle, and what was asked of it: few lines of a program speak, and each of them often. */
interface Known {
  lines: Lines | null;
  places: Map<number, Place | null>;
}

const known = new Map<string, Known>();

/**
 * The module, seen from `dist`, and its line that a line of a bundled file was made of; null when the file is none of a bundle's, or the line is
 * another package's. `file`: a path or a file URL. Each file is read once, when it first speaks.
 */
export function inBundle(file: string, line: number): Place | null {
  if (!file.includes('/bundled/')) return null;
  let about = known.get(file);
  if (about === undefined) known.set(file, (about = { lines: read(file), places: new Map() }));
  let place = about.places.get(line);
  if (place === undefined) about.places.set(line, (place = placeOf(about.lines, line)));
  return place;
}

function placeOf(lines: Lines | null, line: number): Place | null {
  const run = lines?.runs.findLast(([first]) => first <= line);
  const module = run && lines?.modules[run[1]];
  return run === undefined || module === undefined ? null : { file: module, line: run[2] + line - run[0] };
}

function read(file: string): Lines | null {
  try {
    const path = file.startsWith('file:') ? fileURLToPath(file) : file;
    return JSON.parse(readFileSync(`${path}.lines.json`, 'utf8')) as Lines;
  } catch {
    return null;
  }
}
