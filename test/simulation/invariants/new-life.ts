import type { Rule } from './rule.ts';

/** A static pod that was put back under its UID is another pod: nothing that its former life remembered may reach it. */
export const comesBackNew: Rule = {
  name: 'a pod that comes back begins anew',
  source: 'kubelet podWorkers: "static pods can be restarted with the same UID" once the former one has terminated',
  begin: ({ say }) => {
    const finished = new Set<string>();
    return {
      on: (fact) => {
        if (fact.f === 'agent') finished.clear();
        if (fact.f === 'finished') finished.add(fact.uid);
        if (fact.f !== 'step' || fact.message.type !== 'pod.start') return;
        if (finished.delete(fact.uid) && fact.message.memory !== null)
          say(`${fact.uid} remembers ${JSON.stringify(fact.message.memory).slice(0, 500)}`);
      },
    };
  },
};
