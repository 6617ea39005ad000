import type { Rule } from './rule.ts';

/** A pod has one network namespace at a time. */
export const oneSandbox: Rule = {
  name: 'one ready sandbox',
  source: 'kubelet podSandboxChanged: a pod with more than one ready sandbox is made anew',
  begin: ({ world, say }) => ({
    on: (fact) => {
      if (fact.f !== 'sandbox' || fact.change !== 'made') return;
      const ready = [...world.runtime.core.sandboxes.byId.values()].filter(
        ({ metadata, state }) => metadata.uid === fact.uid && state === 0,
      );
      if (ready.length > 1) say(`${fact.uid} has ${ready.length} ready sandboxes`);
    },
  }),
};
