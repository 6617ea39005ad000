import { isCriticalPod } from '../../../machines/qos/critical-pod.ts';
import { podQosClass } from '../../../machines/qos/qos-class.ts';
import type { Rule } from './rule.ts';

const KINDS = ['memory', 'disk', 'pid'] as const;

/**
 * Who comes while the node is short would go again: what a controller puts in the place of an evicted pod waits until there is room, so that
 * evictions have an end when their cause has.
 */
export const shortNodesTakeNobody: Rule = {
  name: 'a node that is short takes no pod that could go for it again',
  source:
    'kubelet eviction managerImpl.Admit: critical pods always, others unless memory alone is short and they ask for some',
  begin: ({ world, book, say }) => {
    /** Since when each look has found it told; a condition changes by a look alone. */
    let since: Partial<Record<(typeof KINDS)[number], number>> = {};
    const born = new Map<string, number>();
    return {
      on: (fact) => {
        const { now } = world.time;
        if (fact.f === 'agent' && fact.change === 'crashed') since = {};
        if (fact.f === 'api' && fact.type === 'ADDED') born.set(fact.pod.metadata?.uid ?? '', now);
        const is = world.agent?.pressure;
        if (fact.f === 'usage' && is !== undefined)
          since = Object.fromEntries(KINDS.flatMap((kind) => (is[kind] ? [[kind, since[kind] ?? now]] : [])));
        if (fact.f !== 'sandbox' || fact.change !== 'made' || is === undefined) return;
        const pod = book.pods.get(fact.uid)?.context.pod;
        const at = born.get(fact.uid);
        if (pod === undefined || at === undefined || isCriticalPod(pod)) return;
        const whole = KINDS.filter((kind) => is[kind] && (since[kind] ?? Infinity) < at);
        const spared = whole.length === 1 && whole[0] === 'memory' && podQosClass(pod) !== 'BestEffort';
        if (whole.length > 0 && !spared) say(`${fact.uid} came when ${whole.join()} was short, and runs`);
      },
    };
  },
};
