import type { Rule } from './rule.ts';

/** Steps of one pod within a second: a burst of answers is far below it. */
const MOST_STEPS = 400;

/** A pod that waits, waits: it does not ask for the next timer again and again. */
export const noBusyLoop: Rule = {
  name: 'no busy loop',
  source: 'a deadline that has come is served once (docs/architecture.md, "Deadlines are fields")',
  begin: ({ world, say }) => {
    const seconds = new Map<string, { second: number; steps: number }>();
    return {
      on: (fact) => {
        if (fact.f !== 'step') return;
        const second = Math.floor(world.time.now / 1000);
        const before = seconds.get(fact.uid);
        const steps = before?.second === second ? before.steps + 1 : 1;
        seconds.set(fact.uid, { second, steps });
        if (steps === MOST_STEPS)
          say(`${fact.uid} took ${steps} steps within a second, the last of ${fact.message.type}`);
      },
    };
  },
};
