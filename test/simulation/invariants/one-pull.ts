import type { Owner } from '../world/virtual-time.ts';
import type { Rule } from './rule.ts';

/** Who waits for the same image with the same right waits for one pull. */
export const onePull: Rule = {
  name: 'one pull of an image at once',
  source: 'machines/images/pull-queue.ts: pulls of the same image, runtime handler and credentials are shared',
  begin: ({ say }) => {
    const underWay = new Map<Owner, Set<string>>();
    return {
      on: (fact) => {
        if (fact.f !== 'pull') return;
        const { by, right, change } = fact;
        const rights = underWay.get(by) ?? new Set();
        underWay.set(by, rights);
        if (change === 'answered') rights.delete(right);
        else if (rights.has(right)) say(`${right} is pulled twice at once`);
        else rights.add(right);
      },
    };
  },
};
