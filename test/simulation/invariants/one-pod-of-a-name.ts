import type { PodPlan } from '../draw/plan.ts';
import type { Ground, Rule } from './rule.ts';

/** A pod waits until the one before it of the same name is gone. */
export const onePodOfAName: Rule = {
  name: 'one pod of a name',
  source: 'kubelet podWorkers.allowPodStart: a static pod waits for the pod of the same full name to end',
  begin: ({ book, say }) => ({
    on: (fact) => {
      if (fact.f !== 'container' || fact.change !== 'started') return;
      const { name, namespace } = fact.record.sandbox.metadata;
      for (const { record, uid, startedAt } of book.containers.values()) {
        const other = record.sandbox.metadata;
        // What an earlier agent left running may belong to a pod that no source has named yet: kubelet starts then, too.
        if (book.lastBreak > (startedAt ?? 0)) continue;
        if (record.state === 1 && uid !== fact.uid && other.name === name && other.namespace === namespace)
          say(`${namespace}/${name}: a container of ${fact.uid} starts while one of ${uid} runs`);
      }
    },
  }),
};

/** A pod of the API with the full name of a static pod waits for that one's end, also to be deleted. */
export function heldUp({ world: { workload } }: Ground, plan: PodPlan): boolean {
  if (plan.source !== 'api') return false;
  return workload.staticKeys.some((key) => {
    const other = workload.plans.get(key);
    return other?.namespace === plan.namespace && `${other.name}-sim` === plan.name;
  });
}
