import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const ACTORLET = fileURLToPath(new URL('../../bin/actorlet', import.meta.url));

/** What `actorlet replay` said of a folder. */
export interface Replay {
  /** All states and effects came out as they were recorded. */
  identical: boolean;
  /** Its words, on one line. */
  said: string;
}

/** Replays all journals of a folder with the machines of today. */
export async function replayOf(folder: string): Promise<Replay> {
  return new Promise((resolve) => {
    execFile(ACTORLET, ['replay', folder], { maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      const said = `${stdout}${stderr}`
        .trim()
        .replace(/\s*\n\s*/g, '; ')
        .slice(0, 2_000);
      resolve({ identical: error === null && stdout.startsWith('identical'), said });
    });
  });
}
