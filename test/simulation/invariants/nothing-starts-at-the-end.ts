import type { Rule } from './rule.ts';

const STARTS: ReadonlySet<string> = new Set(['cri.RunPodSandbox', 'cri.CreateContainer', 'cri.StartContainer']);

/** A pod that ends starts nothing any more, sidecars included. */
export const nothingStartsAtTheEnd: Rule = {
  name: 'nothing starts in a pod that ends',
  source: 'Pod Lifecycle, "Termination of Pods"; KEP-753: sidecars are not restarted while a pod terminates',
  begin: ({ book, say }) => ({
    on: (fact) => {
      if (fact.f !== 'effect' || !STARTS.has(fact.effect.type)) return;
      const pod = book.pods.get(fact.uid);
      if (pod !== undefined && pod.endingSince !== null)
        say(`${fact.effect.type} of ${fact.uid} in ${pod.state}, which ends since ${pod.endingSince} ms`);
    },
  }),
};
