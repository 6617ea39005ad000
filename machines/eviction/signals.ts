/** What eviction looks at, with kubelet's names (pkg/kubelet/eviction/api). All are met when less than a threshold is available. */
export const SIGNALS = [
  'memory.available',
  'allocatableMemory.available',
  'nodefs.available',
  'nodefs.inodesFree',
  'imagefs.available',
  'imagefs.inodesFree',
  'containerfs.available',
  'containerfs.inodesFree',
  'pid.available',
] as const;

/** One of {@link SIGNALS}. */
export type Signal = (typeof SIGNALS)[number];

/** What runs short; `inodes` and `pids` are eviction's own words, the others are resources of pods. */
export type StarvedResource = 'memory' | 'ephemeral-storage' | 'inodes' | 'pids';

/** Conditions of the node that follow from signals, in the order in which they are told. */
export const PRESSURES = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;

/** One of {@link PRESSURES}. */
export type Pressure = (typeof PRESSURES)[number];

/** The resource that a signal is about. */
export function resourceOf(signal: Signal): StarvedResource {
  if (isMemory(signal)) return 'memory';
  if (signal === 'pid.available') return 'pids';
  return signal.endsWith('.inodesFree') ? 'inodes' : 'ephemeral-storage';
}

/** The condition that a signal brings about. */
export function pressureOf(signal: Signal): Pressure {
  const resource = resourceOf(signal);
  return resource === 'memory' ? 'MemoryPressure' : resource === 'pids' ? 'PIDPressure' : 'DiskPressure';
}

/** Signals of memory come before all others. */
export function isMemory(signal: Signal): boolean {
  return signal === 'memory.available' || signal === 'allocatableMemory.available';
}

/** Is it a signal at all? */
export function isSignal(name: string): name is Signal {
  return (SIGNALS as readonly string[]).includes(name);
}
