import type { Pod } from '../../../machines/protocol/api-types.ts';
import { isCriticalPod } from '../../../machines/qos/critical-pod.ts';
import { podRequests } from '../../../machines/qos/pod-resources.ts';
import type { Rule } from './rule.ts';

/** For so long the end of an evicted pod is waited for before the next one may go, ms. */
const WAIT_MS = 40_000;
/** How late a look may come after a time of pressure has ended, ms. */
const LATE_MS = 15_000;

/** Was it evicted by the node, or refused because the node was short? Then it has failed, whatever its containers would have done. */
export function isEvicted(shown: Pod): boolean {
  return shown.status?.reason === 'Evicted';
}

/** Who is evicted, when, and how many at a time. */
export const evictionIsOrderly: Rule = {
  name: 'the node evicts only when it is short, one pod at a time, and never a critical one',
  source: 'kubelet eviction manager: "we kill at most a single pod during each eviction interval"; IsCriticalPod',
  begin: ({ world, book, say }) => {
    let last: { uid: string; at: number } | null = null;
    return {
      on: (fact) => {
        if (fact.f === 'agent') last = null;
        if (fact.f !== 'step' || fact.message.type !== 'pod.terminate') return;
        if (fact.message.order.reason !== 'Evicted') return;
        const { uid } = fact;
        const { now } = world.time;
        if (isCriticalPod(fact.after.context.pod)) say(`${uid} is critical, and is evicted`);
        const short = world.plan.faults.some(
          (fault) => fault.kind === 'pressure' && fault.from <= now && now <= fault.from + fault.for + LATE_MS,
        );
        if (!short) say(`${uid} is evicted, and nothing is short`);
        if (last !== null && last.uid !== uid && now - last.at < WAIT_MS && book.running(last.uid).length > 0)
          say(`${uid} is evicted ${now - last.at} ms after ${last.uid}, which still runs`);
        last = { uid, at: now };
      },
    };
  },
};

/** Who of the pods that were measured has to go. */
export const victimsAreInOrder: Rule = {
  name: 'the pod that goes is the first in the order of eviction of those that may',
  source:
    'kubelet rankMemoryPressure, rankDiskPressureFunc (over requests, priority, how much over), rankPIDPressure (priority, how many)',
  begin: ({ world, book, say }) => ({
    on: (fact) => {
      if (fact.f !== 'step' || fact.message.type !== 'pod.terminate') return;
      const resource = /low on resource: ([\w-]+)\./.exec(fact.message.order.message ?? '')?.[1];
      const own = world.usage.measured.get(fact.uid);
      // Of a pod without stats nothing is known: it goes before all others.
      if (fact.message.order.reason !== 'Evicted' || resource === undefined || own === undefined) return;
      const victim = standing(fact.after.context.pod, own, resource);
      for (const [uid, mib] of world.usage.measured) {
        const other = book.pods.get(uid);
        if (uid === fact.uid || other === undefined || other.state.startsWith('terminat')) continue;
        const { pod } = other.context;
        // It may have been measured again since the pods were ranked, and take more by now.
        if (isCriticalPod(pod) || !isBefore(standing(pod, mib / 2, resource), victim)) continue;
        say(
          `${fact.uid} (${victim.join(', ')}) is evicted for ${resource} before ${uid} (${standing(pod, mib, resource).join(', ')})`,
        );
      }
    },
  }),
};

/** What decides, the least first; `mib`: MiB of memory or disk, or processes. */
function standing(pod: Pod, mib: number, resource: string): number[] {
  const priority = pod.spec?.priority ?? 0;
  if (resource === 'pids') return [priority, -mib];
  const asked = Number(podRequests(pod, { excludeOverhead: true })[resource] ?? 0n) / 1e9 / 2 ** 20;
  return [mib > asked ? 0 : 1, priority, asked - mib];
}

function isBefore(a: readonly number[], b: readonly number[]): boolean {
  const first = a.findIndex((value, i) => value !== b[i]);
  return first >= 0 && (a[first] ?? 0) < (b[first] ?? 0);
}

/** An evicted pod ends as it was told to. */
export const evictedPodsFail: Rule = {
  name: 'an evicted pod fails with its reason, and stays so',
  source:
    'core/v1 PodStatus.reason: "A brief CamelCase message indicating details about why the pod is in this state. e.g. \'Evicted\'"',
  begin: ({ say }) => {
    const evicted = new Set<string>();
    return {
      on: (fact) => {
        if (fact.f === 'finished') evicted.delete(fact.uid);
        if (fact.f === 'step' && fact.message.type === 'pod.terminate' && fact.message.order.reason === 'Evicted') {
          // One that ended before goes on to its own end.
          if (fact.before.context.termination === null && fact.before.context.status?.phase === 'Running')
            evicted.add(fact.uid);
        }
        if (fact.f !== 'report' || !evicted.has(fact.uid)) return;
        const { phase, reason, conditions } = fact.report.status;
        const target = conditions?.find(({ type }) => type === 'DisruptionTarget');
        if (phase !== 'Failed' || reason !== 'Evicted' || target?.status !== 'True')
          say(
            `${fact.uid} was evicted and is told as ${phase ?? ''}, ${reason ?? ''}, DisruptionTarget ${target?.status ?? ''}`,
          );
      },
    };
  },
};
