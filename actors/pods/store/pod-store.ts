import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodRow } from './pod-row.ts';
import type { PodReport } from '../shard/shard-protocol.ts';

interface Stored {
  pod: Pod;
  report: PodReport | null;
}

/** The last report of every pod: what `/pods`, `actorlet pods` and a restarted worker are answered from (status manager). */
export class PodStore {
  private readonly pods = new Map<string, Stored>();

  set(pod: Pod): void {
    const uid = pod.metadata?.uid ?? '';
    this.pods.set(uid, { pod, report: this.pods.get(uid)?.report ?? null });
  }

  report(report: PodReport): void {
    const stored = this.pods.get(report.uid);
    if (stored !== undefined) this.pods.set(report.uid, { ...stored, report });
  }

  reportOf(uid: string): PodReport | null {
    return this.pods.get(uid)?.report ?? null;
  }

  /** State of the pod's machine; `waiting` before it told one, null when there is no such pod. */
  stateOf(uid: string): string | null {
    const stored = this.pods.get(uid);
    return stored === undefined ? null : (stored.report?.state ?? 'waiting');
  }

  delete(uid: string): void {
    this.pods.delete(uid);
  }

  /** All pods with their current status, as `v1.Pod`. */
  list(): Pod[] {
    return [...this.pods.values()].map(withStatus);
  }

  /** The youngest pod of that name with its current status: a pod that ends gives way to its successor. */
  named(namespace: string, name: string): Pod | undefined {
    const found = [...this.pods.values()].findLast(
      ({ pod: { metadata } }) => metadata?.name === name && (metadata.namespace ?? '') === namespace,
    );
    return found && withStatus(found);
  }

  /** How many pods are in each machine state. */
  states(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { report } of this.pods.values()) {
      const state = report?.state ?? 'waiting';
      counts.set(state, (counts.get(state) ?? 0) + 1);
    }
    return counts;
  }

  rows(): PodRow[] {
    return [...this.pods.values()].map(({ pod, report }) => ({
      namespace: pod.metadata?.namespace ?? '',
      name: pod.metadata?.name ?? '',
      uid: pod.metadata?.uid ?? '',
      phase: report?.status.phase ?? 'Pending',
      state: report?.state ?? 'waiting',
      restarts: restartsOf(report),
      ip: report?.status.podIP ?? '',
      startedAt: String(report?.status.startTime ?? ''),
      why: report === null ? 'waits for its predecessor of the same name, or to be seen by PLEG' : report.why,
    }));
  }
}

function withStatus({ pod, report }: Stored): Pod {
  return report === null ? pod : { ...pod, status: report.status };
}

function restartsOf(report: PodReport | null): number {
  const all = [...(report?.status.initContainerStatuses ?? []), ...(report?.status.containerStatuses ?? [])];
  return all.reduce((sum, c) => sum + c.restartCount, 0);
}
