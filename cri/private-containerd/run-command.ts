import { execFile } from 'node:child_process';

/** How a command ended; `code` is -1 when it could not be started or was killed. */
export interface CommandResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program (no shell) and never rejects. Output is cut at 16 MiB; `timeoutMs` ends it with SIGKILL. */
export function runCommand(
  file: string,
  args: readonly string[],
  options: { timeoutMs?: number; env?: NodeJS.ProcessEnv } = {},
): Promise<CommandResult> {
  return new Promise((resolve) => {
    execFile(
      file,
      [...args],
      {
        timeout: options.timeoutMs ?? 60_000,
        killSignal: 'SIGKILL',
        maxBuffer: 16 * 1024 * 1024,
        env: options.env ?? { ...process.env, PATH: systemPath() },
      },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : -1;
        resolve({ code, stdout, stderr: stderr === '' && error !== null ? error.message : stderr });
      },
    );
  });
}

/** `PATH` with the system folders added: an agent started by hand often has no `/usr/sbin`, where runc and ip live. */
export function systemPath(path: string = process.env['PATH'] ?? ''): string {
  const dirs = path.split(':').filter((d) => d !== '');
  for (const dir of ['/usr/local/sbin', '/usr/local/bin', '/usr/sbin', '/usr/bin', '/sbin', '/bin']) {
    if (!dirs.includes(dir)) dirs.push(dir);
  }
  return dirs.join(':');
}
