import type { NodeObjectConfig } from '../../../machines/node-object/node-types.ts';
import type { NodeFacts } from '../../../machines/node-object/set-node-status.ts';
import { NodeFactsReader } from './node-facts-reader.ts';
import type { NodeFactsSource } from './node-facts-reader.ts';
import type { NodeObjectOptions } from './node-object-options.ts';
import { RuntimeFactsReader } from './runtime-facts.ts';

/** A runtime may get other handlers, or be another version, without a look that fails in between: it is asked anew after so long, ms. */
const RUNTIME_EVERY_MS = 30_000;

/** What the node's status is made from: machine, addresses, runtime, and what its managers say. */
export class KnownNode {
  private readonly options: NodeObjectOptions;
  private readonly steady: () => number;
  private readonly facts: NodeFactsSource;
  private readonly runtime: RuntimeFactsReader;
  private runtimeRead = false;
  private runtimeReadAt = Number.NEGATIVE_INFINITY;
  private reading = false;
  private storageError: string | null = null;

  constructor(options: NodeObjectOptions, { externalCloudProvider }: NodeObjectConfig) {
    const { settings, flags, log } = options;
    this.options = options;
    this.steady = options.steady ?? (() => performance.now());
    const given = { hostname: settings.nodeName, given: flags.nodeIPs };
    this.facts = options.facts ?? new NodeFactsReader(flags.rootDir, { ...given, externalCloudProvider }, log);
    this.runtime = new RuntimeFactsReader(options.cri, log, settings.runtimeName);
  }

  /** Looks at machine, addresses and runtime anew; takes two seconds at most and never rejects. */
  async look(): Promise<void> {
    const at = this.steady();
    await Promise.all([this.facts.read(at), this.lookAtRuntime(at)]);
  }

  /** A runtime that came back tells its version beside the status update, which does not wait for it. `onRead`: it has. */
  readRuntimeAgain(onRead: () => void): void {
    if (!this.options.runtimeState().runtimeReady) {
      this.runtimeRead = false;
      return;
    }
    if (this.runtimeRead || this.reading) return;
    this.reading = true;
    void this.runtime.readRuntime().then((read) => {
      this.reading = false;
      this.runtimeRead = read;
      if (read) onRead();
    });
  }

  /** What keeps claims' volumes from being served, part of the Ready condition; null when nothing does. Answers whether nothing did before. */
  tellStorage(error: string | null): boolean {
    const before = this.storageError;
    this.storageError = error;
    return before === null;
  }

  /** All of it, as it is now. */
  now(): NodeFacts {
    const { runtimeState, plegError, shutdownErrors, pressure, conditions, devices, volumesInUse } = this.options;
    const storageErrors = this.storageError === null ? [] : [this.storageError];
    return {
      ...(devices && { devices: devices() }),
      ...(volumesInUse && { volumesInUse: volumesInUse() }),
      machine: this.facts.machine,
      runtime: this.runtime.facts,
      addresses: this.facts.addresses,
      readiness: {
        runtime: runtimeState(),
        plegError: plegError(),
        shutdownErrors: shutdownErrors?.() ?? [],
        storageErrors,
      },
      pressure: pressure?.() ?? { memory: false, disk: false, pid: false },
      managed: conditions?.() ?? [],
    };
  }

  private async lookAtRuntime(at: number): Promise<void> {
    const known = this.runtimeRead && at - this.runtimeReadAt < RUNTIME_EVERY_MS;
    if (!known) {
      this.runtimeRead = await this.runtime.readRuntime();
      if (this.runtimeRead) this.runtimeReadAt = at;
    }
    if (this.runtimeRead) await this.runtime.readImages(at);
    // A runtime that comes back may be another version.
    if (!this.options.runtimeState().runtimeReady) this.runtimeRead = false;
  }
}
