import type { Duplex } from 'node:stream';
import { findRunning } from '../../../cri/sim/find-container.ts';
import { whenExits } from '../../../cri/sim/processes.ts';
import type { SimCore } from '../../../cri/sim/sim-core.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { internalErrorStatus, SUCCESS_STATUS } from '../../serve/remote-command/session-status.ts';
import type { NodeLogs } from './node-logs.ts';
import { sent } from './stream-server.ts';

/** Who attached, and to what. */
export interface Attachment {
  core: SimCore;
  logs: NodeLogs;
  containerId: string;
  /** The container has a terminal: all it says goes to stdout, with a terminal's ends of lines. */
  tty: boolean;
  streams: ReadonlyMap<string, Duplex>;
  /** Settled when the connection is over. */
  closed: Promise<unknown>;
}

/** What may wait for somebody who attached and does not read, bytes. A real container would stop at its next line. */
const MOST_BEHIND = 1024 * 1024;

/**
 * Sends what a container says from now on, until it ends or until nobody is attached any more; then how that went, as remotecommand's
 * version 4 says it. What is typed goes nowhere: no process reads it.
 */
export async function attachContainer({ core, logs, containerId, tty, streams, closed }: Attachment): Promise<void> {
  const stdout = streams.get('stdout');
  const stderr = tty ? stdout : streams.get('stderr');
  let problem: string | null = null;
  try {
    const record = findRunning(core, containerId);
    await new Promise<void>((resolve) => {
      const end = (): void => {
        ignore();
        forget();
        resolve();
      };
      const ignore = logs.follow(record.logPath, (stream, text) => {
        const to = stream === 'stdout' ? stdout : stderr;
        to?.write(tty ? text.replaceAll('\n', '\r\n') : text);
        if ((to?.writableLength ?? 0) <= MOST_BEHIND) return;
        problem = 'what it says is not read';
        end();
      });
      const forget = whenExits(record, end);
      void closed.then(end);
    });
  } catch (error) {
    problem = messageOf(error);
  }
  const none = Buffer.alloc(0);
  // Who does not read would not take the end either.
  if (problem === null) await Promise.all([sent(streams.get('stdout'), none), sent(streams.get('stderr'), none)]);
  const status =
    problem === null ? SUCCESS_STATUS : internalErrorStatus(`error attaching to container: ${String(problem)}`);
  await sent(streams.get('error'), Buffer.from(status));
}
