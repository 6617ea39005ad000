import { formatQuantity } from '../values/quantity.ts';
import { amountOf } from './thresholds.ts';
import type { Threshold } from './thresholds.ts';
import type { Signal } from './signals.ts';
import { resourceOf } from './signals.ts';

/** What was seen of a signal: bytes, inodes or process ids. */
export interface Observation {
  available: number;
  capacity: number;
  /** When, ms since the epoch; 0: not known. */
  at: number;
}

/** What was seen; signals that nothing is known of are missing. */
export type Observations = Partial<Record<Signal, Observation>>;

/** Stats of a file system, as the summary API has them. Times are ns since the epoch, null when not known. */
interface FsFigures {
  time: number | null;
  availableBytes?: number | undefined;
  capacityBytes?: number | undefined;
  inodesFree?: number | undefined;
  inodes?: number | undefined;
}

interface MemoryFigures {
  time: number | null;
  availableBytes?: number | undefined;
  workingSetBytes?: number | undefined;
}

/** What of a node's stats signals are made of. */
export interface NodeFigures {
  memory?: MemoryFigures | undefined;
  systemContainers?: readonly { name: string; memory?: MemoryFigures | undefined }[] | undefined;
  fs?: FsFigures | undefined;
  runtime?: { imageFs?: FsFigures | undefined; containerFs?: FsFigures | undefined } | undefined;
  rlimit?: { time: number | null; maxpid?: number | undefined; curproc?: number | undefined } | undefined;
}

/** The signals of a node's stats (kubelet's makeSignalObservations). */
export function observe(node: NodeFigures): Observations {
  const seen: Observations = {};
  const put = (signal: Signal, time: number | null, available: number | undefined, capacity: number | undefined) => {
    if (available === undefined || capacity === undefined || Number.isNaN(capacity)) return;
    seen[signal] = { available, capacity, at: (time ?? 0) / 1e6 };
  };
  const memory = (signal: Signal, figures: MemoryFigures | undefined): void => {
    if (figures === undefined) return;
    const { time, availableBytes, workingSetBytes } = figures;
    if (workingSetBytes === undefined) return;
    put(signal, time, availableBytes, (availableBytes ?? NaN) + workingSetBytes);
  };
  const fs = (name: 'nodefs' | 'imagefs' | 'containerfs', figures: FsFigures | undefined): void => {
    if (figures === undefined) return;
    put(`${name}.available`, figures.time, figures.availableBytes, figures.capacityBytes);
    put(`${name}.inodesFree`, figures.time, figures.inodesFree, figures.inodes);
  };
  memory('memory.available', node.memory);
  memory('allocatableMemory.available', node.systemContainers?.find(({ name }) => name === 'pods')?.memory);
  fs('nodefs', node.fs);
  fs('imagefs', node.runtime?.imageFs);
  fs('containerfs', node.runtime?.containerFs);
  const { rlimit } = node;
  if (rlimit?.maxpid !== undefined && rlimit.curproc !== undefined)
    put('pid.available', rlimit.time, rlimit.maxpid - rlimit.curproc, rlimit.maxpid);
  return seen;
}

/**
 * The thresholds that are met, whatever their grace periods (kubelet's thresholdsMet). What was not seen is not met.
 * @param withReclaim as much more must be there as is to be reclaimed
 */
export function thresholdsMet(thresholds: readonly Threshold[], seen: Observations, withReclaim: boolean): Threshold[] {
  return thresholds.filter(({ signal, value, minReclaim }) => {
    const observed = seen[signal];
    if (observed === undefined) return false;
    const { capacity, available } = observed;
    const reclaim = withReclaim && minReclaim !== undefined ? amountOf(minReclaim, capacity) : 0n;
    return amountOf(value, capacity) + reclaim > BigInt(available) * 1_000_000_000n;
  });
}

/** How much of a signal there is, as kubelet writes it: bytes in powers of 1024, counts in powers of ten. */
export function signalText(signal: Signal, amount: number): string {
  const resource = resourceOf(signal);
  const format = resource === 'inodes' || resource === 'pids' ? 'DecimalSI' : 'BinarySI';
  return formatQuantity(BigInt(amount) * 1_000_000_000n, format);
}
