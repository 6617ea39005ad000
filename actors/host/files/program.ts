import { execFile } from 'node:child_process';
import { endOutputsBy } from './end-outputs.ts';

/** How a program ended. */
export interface Ended {
  /** Exit status; null when it was killed or is not there. */
  status: number | null;
  missing: boolean;
  /** What it printed, to both outputs. */
  output: string;
}

/** Runs a program that may take long (a file system on a large disk, a login): nothing is given up here but by `signal`. Never rejects. */
export function runProgram(command: string, args: readonly string[], signal?: AbortSignal): Promise<Ended> {
  return new Promise((resolve) => {
    const options = { env: { ...process.env, LC_ALL: 'C' }, maxBuffer: 1 << 22, ...(signal && { signal }) };
    const child = execFile(command, args, options, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`;
      if (error === null) resolve({ status: 0, missing: false, output });
      else {
        const { code } = error as { code?: unknown };
        resolve({ status: typeof code === 'number' ? code : null, missing: code === 'ENOENT', output });
      }
    });
    if (signal) endOutputsBy(signal, child);
  });
}

/** The same in Go's words. */
export function howEnded({ status, missing }: Ended): string {
  if (missing) return 'executable file not found in $PATH';
  return status === null ? 'signal: killed' : `exit status ${status}`;
}
