import { parentPort, workerData } from 'node:worker_threads';
import { agentVersion } from '../../configure/configuration/version.ts';
import type { LoggerOptions } from '../../record/logging/create-logger.ts';
import { createLogger } from '../../record/logging/create-logger.ts';
import type { InspectorAddress } from '../../configure/configuration/inspector-address.ts';
import { startFleetInspector } from './fleet-inspector.ts';
import { Inspector } from './inspector.ts';
import { startInspectorServer } from './inspector-server.ts';

/** What the agent hands to its inspector's thread. */
export interface InspectorTask {
  dir: string;
  /** The folder has a journal for each of many nodes, in folders of their names. */
  fleet: boolean;
  address: InspectorAddress;
  token: string;
  log: LoggerOptions;
}

/** What the thread tells: that it listens, or that it cannot. */
export type FromInspector = { t: 'listening'; address: string; url: string } | { t: 'failed'; problem: string };

const port = parentPort;
if (port !== null) {
  const { dir, fleet, address, token, log: options } = workerData as InspectorTask;
  const log = createLogger({ ...options, name: 'inspector' });
  const send = (message: FromInspector): void => port.postMessage(message);
  try {
    const version = agentVersion();
    const server = fleet
      ? await startFleetInspector({ dir, address, token, log, version })
      : await startInspectorServer({ inspector: new Inspector({ mode: 'live', dir }, version), address, token, log });
    port.once('message', () => void server.close().finally(() => port.close()));
    send({ t: 'listening', address: server.address, url: server.url });
  } catch (error) {
    send({ t: 'failed', problem: error instanceof Error ? error.message : String(error) });
    port.close();
  }
}
