/** What kubelet's metrics count of a pod's admission. */
export type Counted =
  | 'cpuPinningRequests'
  | 'cpuPinningErrors'
  | 'alignedCores'
  | 'unalignedCores'
  | 'alignedUncore'
  | 'memoryPinningRequests'
  | 'memoryPinningErrors'
  | 'topologyErrors'
  | 'alignedNodesOfContainer'
  | 'unalignedNodesOfContainer'
  | 'alignedNodesOfPod'
  | 'unalignedNodesOfPod';

/** Counts of one admission. */
export class Tally {
  readonly counts: Partial<Record<Counted, number>> = {};

  add(what: Counted): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}
