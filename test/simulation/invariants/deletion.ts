import type { Rule } from './rule.ts';

/** A pod's object stays until nothing of it runs: only then may another one take its place, perhaps on another node. */
export const staysUntilItEnded: Rule = {
  name: 'a pod is deleted after it has ended',
  source:
    'Pod Lifecycle, "Termination of Pods": the kubelet deletes the object when all is shut down, unless it was forced',
  begin: ({ world, book, say }) => ({
    on: (fact) => {
      if (fact.f !== 'api' || fact.type !== 'DELETED') return;
      const uid = fact.pod.metadata?.uid ?? '';
      if (world.workload.forced.has(uid) || world.workload.planOf(uid) === undefined) return;
      const running = book.running(uid).map(({ name }) => name);
      if (running.length > 0) say(`${uid} is gone from the API while ${running.join(', ')} runs`);
      if (world.host.pods.has(uid)) say(`${uid} is gone from the API while its volumes are there`);
    },
  }),
};
