import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { open, writeFile } from 'node:fs/promises';
import { ActorletError } from '../../machines/errors/define.ts';
import { runtimeErrors } from '../../machines/errors/runtime-errors.ts';
import type { RuntimeBinaries } from './binaries.ts';
import { boundLog, logTail } from './bounded-log.ts';
import { waitForCri } from './cri-ready.ts';
import type { ContainerdLayout } from './layout.ts';
import { endProcess, findContainerd, isAlive } from './processes.ts';

/** Seconds that containerd gets from its start until CRI answers: recovery of many pods takes a while. */
const START_SECONDS = 60;

/** A running containerd. `ended` resolves when it is no longer there, however it was found. */
export interface DaemonProcess {
  pid: number;
  adopted: boolean;
  ended: Promise<void>;
  /** Ends the watching, not the process: nothing of it keeps this agent's event loop busy any longer. */
  forget(): void;
}

/**
 * Starts containerd in a session of its own, so that it outlives the agent, and waits until CRI answers.
 * Throws RTM006 with the end of its log when it does not.
 */
export async function spawnDaemon(layout: ContainerdLayout, binaries: RuntimeBinaries): Promise<DaemonProcess> {
  await boundLog(layout.log);
  const output = await open(layout.log, 'a', 0o640);
  let child: ChildProcess;
  try {
    child = spawn(binaries.containerd, ['-c', layout.config], {
      detached: true,
      cwd: layout.dir,
      stdio: ['ignore', output.fd, output.fd],
      // NOTIFY_SOCKET and the like belong to the agent: containerd must not answer systemd in its name
      env: { PATH: binaries.path, HOME: process.env['HOME'] ?? '/root' },
    });
  } finally {
    await output.close();
  }
  const state = { ended: false };
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      state.ended = true;
      resolve();
    };
    child.once('exit', end);
    child.once('error', end);
  });
  child.unref();
  const { pid } = child;
  const ready =
    pid !== undefined &&
    (await writeFile(layout.pidFile, `${pid}\n`).then(() =>
      waitForCri(layout.endpoint, { timeoutMs: START_SECONDS * 1000, giveUp: () => state.ended }),
    ));
  if (pid === undefined || !ready) {
    if (pid !== undefined) await endProcess(pid, 2_000);
    throw new ActorletError(runtimeErrors.containerdDidNotStart, {
      what: state.ended ? 'it ended' : 'CRI did not answer',
      seconds: START_SECONDS,
      tail: await logTail(layout.log, 5),
      log: layout.log,
      config: layout.config,
    });
  }
  return { pid, adopted: false, ended, forget: () => child.removeAllListeners() };
}

/**
 * Takes over the containerd that an earlier agent left running with this configuration; null when there is none.
 * One whose CRI does not answer is ended, so that a new one can take its place.
 */
export async function adoptDaemon(layout: ContainerdLayout, answerMs = 20_000): Promise<DaemonProcess | null> {
  const pid = await findContainerd(layout.config, layout.pidFile);
  if (pid === null) return null;
  if (!(await waitForCri(layout.endpoint, { timeoutMs: answerMs }))) {
    if (await endProcess(pid, 5_000)) return null;
    throw new ActorletError(runtimeErrors.pidFileNotOurs, { pid, config: layout.config, socket: layout.socket });
  }
  await writeFile(layout.pidFile, `${pid}\n`);
  return { pid, adopted: true, ...watchPid(pid) };
}

/** A process that is not our child reports its end to nobody: it is looked at twice a second. */
function watchPid(pid: number): { ended: Promise<void>; forget: () => void } {
  let timer: NodeJS.Timeout | undefined;
  const ended = new Promise<void>((resolve) => {
    timer = setInterval(() => {
      void isAlive(pid).then((alive) => {
        if (alive) return;
        clearInterval(timer);
        resolve();
      });
    }, 500);
    timer.unref();
  });
  return { ended, forget: () => clearInterval(timer) };
}
