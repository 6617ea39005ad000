/** Pods of this priority and above, up to that of the next group, have so many seconds when the node shuts down. */
export interface ShutdownGroup {
  priority: number;
  seconds: number;
}

/** A pod that holds something of the node when it shuts down. */
export interface ShutdownPod {
  uid: string;
  namespace: string;
  name: string;
  /** `spec.priority`; 0 without one. */
  priority: number;
  /** `spec.terminationGracePeriodSeconds`; absent when the spec says nothing. */
  graceSeconds?: number;
}

/** A group with its pods. */
export interface PodsOfGroup extends ShutdownGroup {
  pods: ShutdownPod[];
}

/** Fields of the configuration that say how long a shutdown may wait for pods; durations in ms. */
export interface ShutdownFields {
  shutdownGracePeriod: number;
  shutdownGracePeriodCriticalPods: number;
  shutdownGracePeriodByPodPriority: readonly { priority?: number; shutdownGracePeriodSeconds?: number }[];
}

/** Priority from which on pods are critical (kubelet's SystemCriticalPriority). */
const CRITICAL_PRIORITY = 2_000_000_000;

/**
 * The groups that are configured, from the lowest priority to the highest; none: shutdowns are not waited for. The two periods
 * count when no group is named, or when these are not switched on (kubelet's newPodManager, migrateConfig).
 */
export function configuredGroups(fields: ShutdownFields, byPriority: boolean): ShutdownGroup[] {
  const named = fields.shutdownGracePeriodByPodPriority;
  const groups =
    byPriority && named.length > 0
      ? named.map((each) => ({ priority: each.priority ?? 0, seconds: each.shutdownGracePeriodSeconds ?? 0 }))
      : ofPeriods(fields);
  return groups.sort((a, b) => a.priority - b.priority);
}

function ofPeriods({ shutdownGracePeriod: all, shutdownGracePeriodCriticalPods: critical }: ShutdownFields) {
  if (all === 0 || critical < 0 || critical > all) return [];
  return [
    { priority: 0, seconds: Math.floor((all - critical) / 1000) },
    { priority: CRITICAL_PRIORITY, seconds: Math.floor(critical / 1000) },
  ];
}

/** For so long all groups together may hold a shutdown up, ms. */
export function periodOf(groups: readonly ShutdownGroup[]): number {
  return groups.reduce((sum, { seconds }) => sum + seconds, 0) * 1000;
}

/**
 * Each pod in its group: the one with the highest priority that is not above the pod's; the lowest group takes those below it,
 * too (kubelet's groupByPriority). `groups`: ascending.
 */
export function groupByPriority(groups: readonly ShutdownGroup[], pods: readonly ShutdownPod[]): PodsOfGroup[] {
  const out = groups.map((group): PodsOfGroup => ({ ...group, pods: [] }));
  for (const pod of pods) {
    // Of several groups of one priority the first has the pods of just that priority, the last those above it.
    const same = out.find(({ priority }) => priority === pod.priority);
    const below = out.findLast(({ priority }) => priority < pod.priority);
    (same ?? below ?? out[0])?.pods.push(pod);
  }
  return out;
}

/** Seconds that a pod of the group gets: its own grace period when that is shorter. */
export function graceIn({ seconds }: ShutdownGroup, { graceSeconds }: ShutdownPod): number {
  return graceSeconds !== undefined && graceSeconds <= seconds ? graceSeconds : seconds;
}
