import { readFile } from 'node:fs/promises';
import { runCommand } from './run-command.ts';

/** Mount points at or below `dir`, deepest and newest first: the order in which they can be unmounted. */
export async function mountsBelow(dir: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  const points = lines.map((line) => unescape(line.split(' ')[4] ?? ''));
  return points.filter((point) => point === dir || point.startsWith(`${dir}/`)).reverse();
}

/** Unmounts all at or below `dir`, lazily where a process still uses it. Returns what is still mounted. */
export async function unmountBelow(dir: string): Promise<string[]> {
  for (let round = 0; round < 3; round++) {
    const points = await mountsBelow(dir);
    if (points.length === 0) return [];
    // in parts: a command line has a limit
    for (let i = 0; i < points.length; i += 100) {
      await runCommand('umount', [...(round === 0 ? [] : ['-l']), '--', ...points.slice(i, i + 100)]);
    }
  }
  return mountsBelow(dir);
}

/** mountinfo writes space, tab, newline and backslash as octal. */
function unescape(text: string): string {
  return text.replace(/\\(\d{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8)));
}
