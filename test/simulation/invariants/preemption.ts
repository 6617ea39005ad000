import type { Pod } from '../../../machines/protocol/api-types.ts';
import { isCriticalPod } from '../../../machines/qos/critical-pod.ts';
import { podRequests } from '../../../machines/qos/pod-resources.ts';
import { podQosClass } from '../../../machines/qos/qos-class.ts';
import type { Book } from './book.ts';
import type { Rule } from './rule.ts';

/** What the simulated node has of CPUs, milli cores. */
const NODE_CPU = 4_000;

/** Did a pod give way to a critical one, or was it refused for want of something? */
export function isDisplaced({ status }: Pod): boolean {
  return status?.reason === 'Preempting' || status?.reason?.startsWith('OutOf') === true;
}

/** Static pods have all been drawn so that they fit once the others are gone. */
export const criticalPodsGetIn: Rule = {
  name: 'a critical pod is never refused for want of CPUs that others have',
  source: 'kubelet CriticalPodAdmissionHandler.HandleAdmissionFailure: evicts pods, and admits',
  begin: ({ say }) => ({
    on: (fact) => {
      if (fact.f !== 'report' || !isCriticalPod(fact.pod)) return;
      const { reason = '', message = '' } = fact.report.status;
      if (reason.startsWith('OutOf') || message.includes('preemption: error finding'))
        say(`${fact.uid} is critical, and refused: ${reason}, ${message}`);
    },
  }),
};

/** A time in which pods go for a critical one. */
interface Displacing {
  /** Pods whose requests counted when it began, with what they asked for. */
  counted: Map<string, { cpu: number; guaranteed: boolean; critical: boolean }>;
  victims: string[];
}

/** Pods go for a critical one in kubelet's order, and no more of them than it takes. */
export const displacedInOrder: Rule = {
  name: 'for a critical pod those of the least class go, none that is critical, and no more than it needs',
  source:
    'kubelet getPodsToPreempt: "minimizes the number of guaranteed pods, then burstable pods, then best effort pods evicted"',
  begin: ({ world, book, say }) => {
    let under: Displacing | null = null;
    return {
      on: (fact) => {
        if (fact.f === 'agent' || fact.f === 'worker') under = null;
        if (fact.f !== 'step') return;
        const { uid } = fact;
        if (fact.message.type === 'pod.terminate' && fact.message.order.reason === 'Preempting') {
          if (isCriticalPod(fact.after.context.pod)) say(`${uid} is critical, and goes for another`);
          under ??= { counted: countedNow(world.agent?.counted ?? [], book), victims: [] };
          under.victims.push(uid);
          return;
        }
        // The critical pod comes: all that go for it have gone.
        if (under === null || under.counted.has(uid) || !isCriticalPod(fact.after.context.pod)) return;
        const { counted, victims } = under;
        under = null;
        const cpuOf = (id: string): number => counted.get(id)?.cpu ?? 0;
        const sum = (ids: Iterable<string>): number => [...ids].reduce((total, id) => total + cpuOf(id), 0);
        const short = cpu(fact.after.context.pod) + sum(counted.keys()) - NODE_CPU;
        // It fits as it is: they go for another, which is not to be told from those that come after.
        if (short <= 0) return;
        const given = sum(victims);
        if (given < short) say(`${victims.join()} give ${given} for ${uid}, which lacks ${short}`);
        for (const victim of victims)
          if (given - cpuOf(victim) >= short) say(`${victim} goes for ${uid}, which others make room for`);
        const lesser = [...counted].filter(([, each]) => !each.critical && !each.guaranteed).map(([id]) => id);
        const guaranteed = victims.find((id) => counted.get(id)?.guaranteed === true);
        if (guaranteed !== undefined && sum(lesser) >= short)
          say(`${guaranteed} is guaranteed, and goes for ${uid} though ${lesser.join()} would do`);
      },
    };
  },
};

function countedNow(uids: readonly string[], book: Book): Displacing['counted'] {
  return new Map(
    uids.flatMap((uid) => {
      const pod = book.pods.get(uid)?.context.pod;
      if (pod === undefined) return [];
      return [[uid, { cpu: cpu(pod), guaranteed: podQosClass(pod) === 'Guaranteed', critical: isCriticalPod(pod) }]];
    }),
  );
}

/** Milli cores that a pod asks for. */
function cpu(pod: Pod): number {
  return Number(podRequests(pod)['cpu'] ?? 0n) / 1e6;
}
