import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { InhibitorLock } from './logind-edge.ts';

/** What the lock is for, as kubelet says it; `systemd-inhibit --list` shows it. */
const ARGUMENTS = [
  '--what=shutdown',
  '--who=kubelet',
  '--why=Kubelet needs time to handle node shutdown',
  '--mode=delay',
  'cat',
];
/** Who has the lock echoes this. */
const HELD = 'held\n';
/** Time in which logind answers (as all calls over D-Bus), and in which the process ends, ms. */
const TAKE_LIMIT_MS = 25_000;
const END_LIMIT_MS = 2_000;
/** Of what the process says of its failure so much is told, characters. */
const MOST_WORDS = 500;

/**
 * Takes logind's delay inhibitor lock. The lock is a file descriptor that logind passes over the bus, and Node's sockets take
 * none: the library for D-Bus has such a transport for Bun only, and an addon would have to be built for each machine. So systemd's
 * own `systemd-inhibit` holds it, for as long as its command lives: `cat`, which ends when its input does. That is when the
 * lock is given back, and when the agent dies, however it does. That `cat` answers tells that the lock is held.
 *
 * @param socket of the system's message bus
 * @throws ActorletError HOST035
 */
export async function inhibitByProcess(socket: string, onLost: (why: string) => void): Promise<InhibitorLock> {
  const child = spawn('systemd-inhibit', ARGUMENTS, {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { PATH: process.env['PATH'], LC_ALL: 'C', DBUS_SYSTEM_BUS_ADDRESS: `unix:path=${socket}` },
  });
  let words = '';
  const ended = new Promise<string>((resolve) => {
    child.on('error', (error) => resolve(messageOf(error)));
    child.on('close', (code, signal) => resolve(words.trim() || `systemd-inhibit ended (${signal ?? code ?? ''})`));
  });
  const limit = AbortSignal.timeout(TAKE_LIMIT_MS);
  try {
    // It may have no pipes then.
    if (child.pid === undefined) throw new Error(await ended);
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      words = (words + text).slice(0, MOST_WORDS);
    });
    // It may be gone before it has read.
    child.stdin.on('error', () => undefined);
    child.stdin.write(HELD);
    const failure = await Promise.race([once(child.stdout, 'data', { signal: limit }).then(() => null), ended]);
    if (failure !== null) throw new Error(failure);
  } catch (error) {
    child.kill('SIGKILL');
    const reason = limit.aborted ? `no answer within ${TAKE_LIMIT_MS / 1000} s` : messageOf(error);
    throw new ActorletError(hostErrors.logindRefused, { what: 'give an inhibitor lock', reason }, { cause: error });
  }
  holdNothing(child);
  let released = false;
  void ended.then((why) => {
    if (!released) onLost(why);
  });
  return {
    release: async () => {
      released = true;
      child.stdin.end();
      const late = setTimeout(() => child.kill('SIGKILL'), END_LIMIT_MS);
      await ended;
      clearTimeout(late);
    },
  };
}

/** The process does not keep the agent alive. */
function holdNothing(child: ChildProcess): void {
  child.unref();
  for (const stream of [child.stdin, child.stdout, child.stderr]) (stream as { unref?: () => void } | null)?.unref?.();
}
