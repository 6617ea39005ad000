import { journalsClosed } from '../record/journal/segment-log.ts';
import type { Lifecycle, Part } from './lifecycle.ts';
import type { NodeManager } from './managers.ts';

/** A part of the node that is started and stopped by itself. */
interface Living {
  start(): void | Promise<void>;
  stop(): void | Promise<void>;
}

/** The parts whose order matters. Those that are null are not there. */
export interface OrderedParts {
  shards: Living;
  runtime: Living;
  /** Ports and sockets of the node, and what is told on them. */
  pages: readonly Part[];
  pleg: Living;
  nodeState: { watch(): void; look(): void; stop(): void | Promise<void> };
  runtimeEvents: Part;
  managers: readonly NodeManager[];
  claims: Living | null;
  volumes: Living;
  devices: Living | null;
  sources: { start(): void; stop(): void | Promise<void> };
  clockWatch: Living;
  cluster: Living | null;
  resync: Living;
  /** What works at leisure: nobody waits for it. */
  leisure: readonly Part[];
  asidePods: Pick<Living, 'stop'>;
  supervisor: { close(): void | Promise<void> };
  puller: { close(): void | Promise<void> };
  admission: Pick<Living, 'stop'>;
}

/**
 * Tells `life` in which order the parts of a node are started, and in which phase each is stopped. Ports are taken before the
 * first pod is: with one that is not free no pod has run. Then what sees the runtime, so that the first pod meets what is there
 * already; then the pods; then the rest.
 */
export function orderNode(life: Lifecycle, parts: OrderedParts): void {
  const { nodeState, sources } = parts;
  life.add(living('shards', 'shards', parts.shards), living('runtime state', 'work', parts.runtime), ...parts.pages);
  life.add(living('PLEG', 'work', parts.pleg));
  life.add({ name: 'node state', phase: 'work', start: () => nodeState.watch(), stop: () => nodeState.stop() });
  life.add(parts.runtimeEvents);
  for (const manager of parts.managers) {
    const { name } = manager;
    life.add({ name, phase: 'work', start: () => manager.start?.(), stop: () => manager.stop?.() });
  }
  life.add(living('claims', 'hearers', parts.claims));
  life.add(living('volumes', 'hearers', parts.volumes));
  life.add(living('devices', 'hearers', parts.devices));
  life.add({
    name: 'pod sources',
    phase: 'work',
    start() {
      sources.start();
      nodeState.look();
    },
    stop: () => sources.stop(),
  });
  life.add(living('clock', 'work', parts.clockWatch));
  life.add(living('cluster', 'work', parts.cluster));
  life.add(living('resync', 'work', parts.resync));
  for (const part of parts.leisure) life.add(part);
  life.has('pods put aside', 'hearers', () => parts.asidePods.stop());
  life.has('supervisor', 'hearers', () => parts.supervisor.close());
  life.has('image puller', 'hearers', () => parts.puller.close());
  life.has('admission', 'hearers', () => parts.admission.stop());
  life.has('journals', 'ways', journalsClosed);
}

function living(name: string, phase: Part['phase'], part: Living | null): Part {
  return { name, phase, start: () => part?.start(), stop: () => part?.stop() };
}
