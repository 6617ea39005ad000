import type { StaticLife } from '../../machines/mirror-pods/mirror-plan.ts';
import type { TrackedPod } from '../../machines/supervisor/tracked-pod.ts';
import type { PodReport } from '../pods/shard/shard-protocol.ts';

/** How far a static pod's life is, by what the supervisor and the pod's last report know of it. */
export function staticLife(tracked: TrackedPod | undefined, report: PodReport | null): StaticLife {
  if (tracked === undefined) return null;
  if (report?.state.startsWith('terminated.') === true) return 'ended';
  return tracked.terminating || report?.state.startsWith('terminating.') === true ? 'ending' : 'running';
}
