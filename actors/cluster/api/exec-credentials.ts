import { execFile } from 'node:child_process';
import { ActorletError } from '../../../machines/errors/define.ts';
import { apiErrors } from '../../../machines/errors/api-errors.ts';
import { readExecAnswer } from './exec-answer.ts';
import type { Credentials, Identity } from './credentials.ts';
import type { ExecEntry } from './kubeconfig-schema.ts';

/** Longest run of a plugin; a daemon has nobody who could answer it. */
const runMs = 60_000;

/** What {@link execCredentials} needs. */
export interface ExecCredentialsInput {
  /** Path of the kubeconfig, for messages. */
  where: string;
  entry: ExecEntry;
  /** Program to run, with its path resolved. */
  command: string;
  /** `spec.cluster` of KUBERNETES_EXEC_INFO, present when `provideClusterInfo` is set. */
  cluster?: Record<string, unknown>;
  /** Epoch milliseconds. */
  now?: () => number;
}

/**
 * Runs a credential plugin (KEP-541) and keeps what it says until `expirationTimestamp` or a 401; requests that come
 * while it runs wait for the same run.
 */
export function execCredentials(input: ExecCredentialsInput): Credentials {
  const now = input.now ?? Date.now;
  let known: Identity | undefined;
  let expires = Infinity;
  let running: Promise<Identity> | undefined;
  const run = async (): Promise<Identity> => {
    try {
      const { identity, expiration } = await runPlugin(input);
      known = identity;
      expires = expiration;
      return identity;
    } finally {
      running = undefined;
    }
  };
  return {
    current: () => {
      if (known !== undefined && now() < expires) return known;
      running ??= run();
      return running;
    },
    rejected: (identity) => {
      if (known === identity) known = undefined;
      return true;
    },
  };
}

async function runPlugin(input: ExecCredentialsInput): Promise<{ identity: Identity; expiration: number }> {
  const { entry } = input;
  const info = {
    kind: 'ExecCredential',
    apiVersion: entry.apiVersion,
    spec: { ...(input.cluster && { cluster: input.cluster }), interactive: false },
  };
  const env: NodeJS.ProcessEnv = { ...process.env };
  for (const { name, value } of entry.env ?? []) env[name] = value;
  env.KUBERNETES_EXEC_INFO = JSON.stringify(info);
  const output = await new Promise<string>((resolve, reject) => {
    const child = execFile(
      input.command,
      entry.args ?? [],
      { env, timeout: runMs, killSignal: 'SIGKILL', maxBuffer: 1 << 20, encoding: 'utf8' },
      (error, stdout, stderr) => {
        if (error === null) resolve(stdout);
        else reject(failed(input, error, stderr));
      },
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end();
  });
  return readExecAnswer({ where: input.where, command: input.command, apiVersion: entry.apiVersion }, output);
}

function failed(input: ExecCredentialsInput, error: Error & { code?: unknown }, stderr: string): ActorletError {
  const { code } = error;
  // The last line of stderr is what such plugins tell people; stdout may hold the credentials and is never shown.
  const said = stderr.trim().split('\n').at(-1)?.slice(0, 200) ?? '';
  let reason = `it ended with code ${String(code)}`;
  if (code === 'ENOENT') reason = 'there is no such program';
  else if (code === 'EACCES') reason = 'it is not executable';
  else if ('killed' in error && error.killed === true) reason = `it did not end within ${String(runMs / 1000)} s`;
  if (said !== '') reason += `: ${said}`;
  const params = { command: input.command, where: input.where, reason, hint: input.entry.installHint ?? '' };
  // No cause: Node's error repeats the command line, which may hold a secret.
  return new ActorletError(apiErrors.execFailed, params);
}
