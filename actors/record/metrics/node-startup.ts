import { readFileSync } from 'node:fs';
import type { Metrics } from './metrics-registry.ts';
import { processStart } from './process-metrics.ts';

type StartupGauges =
  | 'nodeStartup'
  | 'nodeStartupPreKubelet'
  | 'nodeStartupPreRegistration'
  | 'nodeStartupRegistration'
  | 'nodeStartupPostRegistration';

/**
 * Measures `kubelet_node_startup_*` as kubelet does: only where this agent makes the Node, since the times of one that
 * was registered before are not those of its start.
 */
export class NodeStartup {
  private readonly metrics: Pick<Metrics, StartupGauges>;
  private readonly now: () => number;
  private attemptedAt = 0;
  private registeredAt = 0;
  private ready = false;

  constructor(metrics: Pick<Metrics, StartupGauges>, now: () => number) {
    this.metrics = metrics;
    this.now = now;
  }

  /** A try to register begins. */
  attempted(): void {
    if (this.attemptedAt === 0) this.attemptedAt = this.now() / 1000;
  }

  /** The Node was made. */
  registered(): void {
    if (this.attemptedAt === 0 || this.registeredAt !== 0) return;
    const { metrics } = this;
    const began = processStart();
    this.registeredAt = this.now() / 1000;
    metrics.nodeStartupPreKubelet.set(began - bootTime());
    metrics.nodeStartupPreRegistration.set(this.attemptedAt - began);
    metrics.nodeStartupRegistration.set(this.registeredAt - this.attemptedAt);
  }

  /** The API server has heard that the node is ready. */
  becameReady(): void {
    if (this.registeredAt === 0 || this.ready) return;
    this.ready = true;
    const at = this.now() / 1000;
    this.metrics.nodeStartupPostRegistration.set(at - this.registeredAt);
    this.metrics.nodeStartup.set(at - bootTime());
  }
}

/** Seconds since the epoch (`btime`). */
function bootTime(): number {
  return Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1] ?? 0);
}
