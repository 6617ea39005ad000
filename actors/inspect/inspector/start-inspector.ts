import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { Logger } from 'pino';
import { Worker } from 'node:worker_threads';
import { ActorletError } from '../../../machines/errors/define.ts';
import { inspectorErrors } from '../../../machines/errors/inspector-errors.ts';
import { SECRET_MODE, placeFile } from '../../host/files/private-files.ts';
import type { LoggerOptions } from '../../record/logging/create-logger.ts';
import type { InspectorAddress } from '../../configure/configuration/inspector-address.ts';
import type { FromInspector, InspectorTask } from './inspector-worker.ts';

/** What a running agent's inspector is made from. */
export interface StartInspectorOptions {
  /** `--journal-dir`. */
  dir: string;
  /** The folder has a journal for each of many nodes, in folders of their names. */
  fleet?: boolean;
  /** `--inspect`. */
  address: InspectorAddress;
  log: Logger;
  workerLog: LoggerOptions;
}

/** The inspector of a running agent. */
export interface AgentInspector {
  /** The address to open, with the token; null when it could not start. */
  readonly address: string | null;
  stop(): Promise<void>;
}

/** Its own bound, so that whoever looks at a large journal cannot take the agent's memory. */
const MAX_HEAP_MIB = 512;
const STOP_MS = 3_000;
/** File of the journal's folder with the address and its token, for root alone. */
const ADDRESS_FILE = 'inspector-address';

/** A new secret for the inspector's address. */
export function newToken(): string {
  return randomBytes(24).toString('base64url');
}

/**
 * Starts the inspector of a running agent, in a thread of its own: it reads the journal from disk and takes nothing from
 * the shards. Resolves when it listens. An agent without inspector is better than none, so a failure is only logged.
 */
export async function startInspector({
  dir,
  fleet = false,
  address,
  log,
  workerLog,
}: StartInspectorOptions): Promise<AgentInspector> {
  // The entry has the ending of this file: .ts in a checkout, .js in a package.
  const entry = new URL(`./inspector-worker${extname(import.meta.url)}`, import.meta.url);
  const workerData: InspectorTask = { dir, fleet, address, token: newToken(), log: workerLog };
  const worker = new Worker(entry, { workerData, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MIB } });
  let stopping = false;
  let failed: string | null = null;
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()));
  worker.on('error', (error) => (failed = error instanceof Error ? error.message : String(error)));
  const first = await Promise.race([
    new Promise<FromInspector>((resolve) => worker.once('message', resolve)),
    ended.then((): FromInspector => ({ t: 'failed', problem: failed ?? 'its thread has ended' })),
  ]);
  if (first.t === 'failed') {
    const error = new ActorletError(inspectorErrors.notStarted, { problem: first.problem });
    log.error({ err: error }, 'Inspector was not started');
    return { address: null, stop: () => ended };
  }
  // Logs are read, sent on and kept by many who may not look into pods: the token is no word for them.
  const addressFile = join(dir, ADDRESS_FILE);
  try {
    placeFile(addressFile, `${first.address}\n`, SECRET_MODE);
    log.info({ url: first.url, addressFile }, 'Inspector: open the address in the file; it lets in whoever has it');
  } catch (error) {
    log.error({ err: error, url: first.url }, 'Inspector: its address could not be written down');
  }
  void ended.then(() => {
    if (stopping) return;
    const error = new ActorletError(inspectorErrors.ended, { problem: failed ?? 'its thread has ended' });
    log.error({ err: error }, 'Inspector ended');
  });
  return {
    address: first.address,
    stop: async () => {
      stopping = true;
      worker.postMessage('stop');
      const late = setTimeout(() => void worker.terminate(), STOP_MS);
      await ended;
      clearTimeout(late);
      rmSync(addressFile, { force: true });
    },
  };
}
