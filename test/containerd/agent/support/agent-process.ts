import { fileURLToPath } from 'node:url';
import { DaemonProcess } from '../../../../bin/control-plane/daemon-process.ts';
import { waitFor } from '../../../tools/wait-for.ts';

const MAIN = fileURLToPath(new URL('../../../../bin/actorlet.ts', import.meta.url));

/** One life of the daemon: a real process, `bin/actorlet FLAGS`, or `kubelet FLAGS` when its path is given. */
export class AgentProcess extends DaemonProcess {
  constructor(flags: readonly string[], logFile: string, kubelet?: string) {
    const program = kubelet ?? process.execPath;
    const args = kubelet === undefined ? [MAIN, ...flags] : flags;
    super({ name: 'the agent', program, args, logFile, env: process.env });
  }

  /** Waits until `/healthz` says ok (or the process has ended: then it throws with its last words). */
  async healthy(port: number): Promise<void> {
    await waitFor(
      'a healthy agent',
      async () => {
        if (this.exit !== null) return 'ended';
        const reply = await fetch(`http://127.0.0.1:${port}/healthz`, { signal: AbortSignal.timeout(2_000) });
        return reply.ok ? 'ok' : undefined;
      },
      () => this.tail(),
    );
    await this.mustRun();
  }
}
