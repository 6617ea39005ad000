import { execFile, spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import type { Writable } from 'node:stream';
import { messageOf } from '../../../machines/values/message-of.ts';
import { endOutputsBy } from '../../host/files/end-outputs.ts';
import { hasOptions, journalArguments } from './node-log-query.ts';
import type { NodeLogQuery } from './node-log-query.ts';
import { isFolder, openInRoot, RootError } from './open-in-root.ts';

const MOST_UNITS_BYTES = 16 * 1024 * 1024;

/** Options of {@link writeServiceLogs}. */
export interface ServiceLogsOptions {
  query: NodeLogQuery;
  /** `/var/log`. */
  dir: string;
  /** Name or path of journalctl. */
  journalctl: string;
  /** Not ended here. */
  out: Writable;
  /** Aborts when the client has gone or its time is over; the program is killed then. */
  signal: AbortSignal;
}

/**
 * Writes the logs of services: of those that systemd's journal knows what journalctl says, of the others their file in
 * `/var/log`. Never rejects: what goes wrong is written, as the kubelet does.
 */
export async function writeServiceLogs(options: ServiceLogsOptions): Promise<void> {
  const { query, dir, out, signal } = options;
  const units = await journalUnits(options);
  const native = query.services.filter((service) => units.includes(`${service}.service`));
  const files = query.services.filter((service) => !native.includes(service));
  if (native.length > 0) await runJournalctl(options, native);
  if (files.length === 0 || signal.aborted) return;
  if (hasOptions(query)) {
    out.write(
      `\noptions present and query resolved to log files for [${files.join(' ')}]\ntry without specifying options\n`,
    );
    return;
  }
  for (const service of files) await writeServiceFile(dir, service, out, signal);
}

/** All units of the journal; '' when there is no journal to ask. */
function journalUnits({ journalctl, signal }: ServiceLogsOptions): Promise<string> {
  return new Promise((resolve) => {
    const options = { maxBuffer: MOST_UNITS_BYTES, killSignal: 'SIGKILL', signal } as const;
    execFile(journalctl, ['--field', '_SYSTEMD_UNIT'], options, (error, stdout, stderr) => {
      resolve(error === null ? stdout + stderr : '');
    });
  });
}

function runJournalctl(
  { query, journalctl, out, signal }: ServiceLogsOptions,
  services: readonly string[],
): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(journalctl, journalArguments(query, services), {
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    });
    child.once('error', (error) => {
      if (error.name !== 'AbortError' && (query.boot ?? 0) === 0) out.write('\nerror: journal output not available\n');
      if (child.pid === undefined) resolve();
    });
    child.once('close', () => {
      resolve();
    });
    // It may have no pipes then.
    if (child.pid === undefined) return;
    child.stdout.pipe(out, { end: false });
    child.stderr.pipe(out, { end: false });
    // When the reader goes, nothing drains the pipes any more, and `close` waits for their end.
    endOutputsBy(signal, child);
  });
}

/** Looks for SERVICE, SERVICE.log and SERVICE/SERVICE.log, in this order. */
async function writeServiceFile(dir: string, service: string, out: Writable, signal: AbortSignal): Promise<void> {
  for (const name of [service, `${service}.log`, `${service}/${service}.log`]) {
    try {
      await writeFile(dir, name, out, signal);
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof RootError && error.absent) continue;
      const reason = messageOf(error);
      out.write(`\nerror getting log for ${service}: ${reason}\n`);
      return;
    }
  }
  out.write(`\nlog not found for ${service}\n`);
}

async function writeFile(dir: string, name: string, out: Writable, signal: AbortSignal): Promise<void> {
  const fd = openInRoot(dir, name);
  // The stream closes the file, also when nobody reads it.
  const stream = createReadStream('', { fd, signal });
  if (isFolder(fd)) {
    stream.destroy();
    throw new RootError('openat', name, 'is a directory', true);
  }
  for await (const block of stream) {
    if (out.write(block)) continue;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        out.off('drain', done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      out.once('drain', done);
      signal.addEventListener('abort', done);
      if (signal.aborted) done();
    });
  }
}
