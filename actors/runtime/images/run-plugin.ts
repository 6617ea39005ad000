import { spawn } from 'node:child_process';
import { endOutputs } from '../../host/files/end-outputs.ts';
import type { ProviderConfig } from './provider-config.ts';

/** What a plugin may write at most; more is an error. */
const MAX_OUTPUT_BYTES = 1024 * 1024;
const MAX_STDERR_BYTES = 4096;

/**
 * Runs a credential provider plugin with `request` on stdin and returns its stdout. Its environment is the agent's,
 * with the configured variables on top. Rejects with kubelet's words and what the plugin wrote to stderr.
 */
export function runPlugin(config: ProviderConfig, image: string, request: string, timeoutMs: number): Promise<string> {
  const { name, path, args, env } = config;
  return new Promise((resolve, reject) => {
    const fail = (why: string, cause?: unknown): void => {
      const tail = Buffer.concat(stderr).toString('utf8').slice(0, MAX_STDERR_BYTES);
      const text = `error execing credential provider plugin ${name} for image ${image}: ${why}: ${tail}`;
      reject(new Error(text, { cause }));
    };
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    let bytes = 0;
    let tooLong = '';
    // A group of its own, so that what the plugin started ends with it.
    const child = spawn(path, args, { env: { ...process.env, ...env }, stdio: 'pipe', detached: true });
    child.on('error', (error) => fail(error.message, error));
    // It was not started, and may have no pipes: its error follows.
    if (child.pid === undefined) return;
    const end = (why: string): void => {
      tooLong = why;
      try {
        if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
      } catch {
        child.kill('SIGKILL');
      }
      // What has left the group holds the outputs, and is not waited for.
      endOutputs(child);
    };
    const timer = setTimeout(() => {
      end('context deadline exceeded');
    }, timeoutMs);
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_OUTPUT_BYTES) end('it wrote more than 1 MiB');
      else stdout.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (stderr.length < 16) stderr.push(chunk);
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      if (tooLong !== '') fail(tooLong);
      else if (code !== 0) fail(code === null ? `signal: ${String(signal)}` : `exit status ${code}`);
      else resolve(Buffer.concat(stdout).toString('utf8'));
    });
    // A plugin need not read its request.
    child.stdin.on('error', () => undefined);
    child.stdin.end(request);
  });
}
