import { compareNode } from '../../../machines/node-object/compare-node.ts';
import type { ComparedNode } from '../../../machines/node-object/compare-node.ts';
import type { Node, NodeEvent, NodeObjectConfig } from '../../../machines/node-object/node-types.ts';
import { ApiStatusError } from '../api/api-client.ts';
import type { KnownNode } from './known-node.ts';
import type { TakeObject } from './node-object-options.ts';
import { patchNode } from './node-registration.ts';
import type { NodeCalls } from './node-registration.ts';
import type { OwnNode } from './own-node.ts';

/** What keeping the status needs of the node object. */
export interface StatusSyncOptions {
  readonly calls: NodeCalls;
  readonly config: NodeObjectConfig;
  readonly known: KnownNode;
  readonly own: OwnNode;
  readonly take: TakeObject;
  /** The API server answered an own patch with this. */
  readonly took: (node: Node) => void;
  /** No patch is under way. */
  readonly idle: () => boolean;
  /** ms since the epoch. */
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
}

/** Compares the object with what is known, and patches it. What is written when is decided by `machines/node-object/object-machine.ts`. */
export class StatusSync {
  private readonly options: StatusSyncOptions;
  private timer: NodeJS.Timeout | undefined;
  private syncing: Promise<void> | undefined;
  /** What was compared last. */
  private compared: ComparedNode | null = null;
  /** Why the last request failed. */
  problem: unknown;

  constructor(options: StatusSyncOptions) {
    this.options = options;
  }

  /** Events of what was compared last. */
  get events(): readonly NodeEvent[] {
    return this.compared?.events ?? [];
  }

  /** Looks anew in `ms`, in place of what was to come. */
  wait(ms: number): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.options.known.look().then(() => this.due(false)), ms);
  }

  /** Compares what is known now with the object. While a patch is under way it is left alone. */
  due(soon: boolean): void {
    const { calls, config, known, own, take, now, random } = this.options;
    if (calls.signal.aborted) return;
    const before = own.node;
    const idle = this.options.idle();
    try {
      if (idle) this.compared = before && compareNode(before, config, known.now(), now());
    } catch (error) {
      this.problem = error;
      return take({ type: 'sync.failed', status: 0 });
    }
    const found = before === null ? null : (this.compared?.finding ?? null);
    if (!idle && !soon) return;
    take({ type: 'sync.due', soon, found, chance: random() });
  }

  patch(): void {
    clearTimeout(this.timer);
    this.syncing = this.send();
  }

  reread(): void {
    this.syncing = this.read();
  }

  async stop(): Promise<void> {
    clearTimeout(this.timer);
    await this.syncing;
  }

  private async send(): Promise<void> {
    const { calls, config, take, took, random } = this.options;
    try {
      took(await patchNode(calls, config.nodeName, this.compared?.patch));
    } catch (error) {
      this.problem = error;
      return take({ type: 'sync.failed', status: error instanceof ApiStatusError ? error.status : 0 });
    }
    take({ type: 'sync.patched', chance: random(), spread: random() });
  }

  private async read(): Promise<void> {
    try {
      await this.options.own.read();
    } catch (error) {
      this.problem = error;
    }
    this.options.take({ type: 'sync.reread' });
  }
}
