import type { Disks } from './container-fs-thresholds.ts';
import type { Signal } from './signals.ts';
import { resourceOf } from './signals.ts';

/** What the node itself can give back: containers that have ended, images that nobody uses. */
export type Reclaimable = 'containers' | 'images';

/** What is tried for a signal before a pod has to go, in this order (kubelet's buildSignalToNodeReclaimFuncs). */
export function reclaimPlan(signal: Signal, { imageFs, splitFs }: Disks): Reclaimable[] {
  const resource = resourceOf(signal);
  if (resource === 'memory' || resource === 'pids') return [];
  const [fs] = signal.split('.');
  if (!imageFs) return ['containers', 'images'];
  if (splitFs) return fs === 'imagefs' ? ['images'] : ['containers'];
  return fs === 'nodefs' ? [] : ['containers', 'images'];
}
