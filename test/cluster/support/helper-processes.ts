import { join } from 'node:path';
import { DaemonProcess } from '../../../bin/control-plane/daemon-process.ts';
import type { ControlPlane } from './control-plane.ts';

/** What such a process is asked to end within, ms. */
const END_MS = 5_000;

/** Processes of the machine that belong to a cluster beside its control plane, with their logs among those of its parts. */
export class HelperProcesses {
  /** Folder of their logs. */
  readonly logs: string;
  private readonly running: DaemonProcess[] = [];

  constructor(plane: ControlPlane) {
    this.logs = join(plane.dir, 'logs');
  }

  /** Starts one; it writes to `NAME.log`. */
  start(name: string, program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): DaemonProcess {
    const started = new DaemonProcess({ name, program, args, logFile: join(this.logs, `${name}.log`), env });
    this.running.push(started);
    return started;
  }

  /** Ends all of them. */
  async stop(): Promise<void> {
    await Promise.all(this.running.splice(0).map((each) => each.terminate(END_MS)));
  }
}
