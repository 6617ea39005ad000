import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The lines a container wrote, newest file last, without CRI's prefix (`<time> stdout F `). */
export async function podLogLines(podLogDir: string, container: string): Promise<string[]> {
  const dir = join(podLogDir, container);
  const files = (await readdir(dir).catch(() => [])).filter((name) => /^\d+\.log$/.test(name)).sort();
  const lines: string[] = [];
  for (const name of files) lines.push(...readCriLog(await readFile(join(dir, name), 'utf8').catch(() => '')));
  return lines;
}

/** Takes CRI's log format apart; partial lines (tag P) are joined with what follows. */
export function readCriLog(text: string): string[] {
  const lines: string[] = [];
  let partial = '';
  for (const line of text.split('\n')) {
    const match = /^\S+ (?:stdout|stderr) ([PF]) ?(.*)$/s.exec(line);
    if (match === null) continue;
    partial += match[2] ?? '';
    if (match[1] === 'P') continue;
    lines.push(partial);
    partial = '';
  }
  return lines;
}
