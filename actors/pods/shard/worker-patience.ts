/** How long a worker may be silent that computes, or of which nobody knows whether it does, ms. */
const SILENT_MS = 3_000;
/** A silent worker that computes so long without a beat loops, ms of processor time. */
const LOOPING_CPU_MS = 1_500;
/**
 * And so many times what it took to load its code, which tells how quick the machine is: one that is emulated, or has its caches
 * taken by others, computes for seconds on what is done in a moment elsewhere. To replace its worker would only add to that.
 */
const LOOPING_LOADS = 4;
/** One that has not come to compute may be starved by others, and is ended later, ms: a new one would get no more. */
const STARVED_MS = 60_000;
/** The same for a worker that still loads its code, ms: on a starved machine that takes its time, and nothing can loop yet. */
const LOADING_MS = 60_000;

/** What is known of a worker that gives no sign of life. */
export interface SilentWorker {
  /** It has answered once. */
  loaded: boolean;
  /** Processor time that it took to load its code, ms; null when nobody knows. */
  loadCpuMs: number | null;
  /** Processor time since it was first found silent, ms; null when nobody knows. */
  quietCpuMs: number | null;
}

/** How long a worker may be silent before another takes its place, ms. */
export function patienceMs({ loaded, loadCpuMs, quietCpuMs }: SilentWorker): number {
  if (!loaded) return LOADING_MS;
  if (quietCpuMs === null) return SILENT_MS;
  return quietCpuMs >= Math.max(LOOPING_CPU_MS, LOOPING_LOADS * (loadCpuMs ?? 0)) ? SILENT_MS : STARVED_MS;
}
