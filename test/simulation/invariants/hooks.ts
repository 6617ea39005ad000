import type { Rule } from './rule.ts';

/** A hook lives as long as its container: nothing but its own end, or its container's, ends it. */
export const hooksGoOn: Rule = {
  name: 'no hook is cut short while its container runs',
  source:
    'kubelet handlerRunner passes no timeout to ExecSync; executePreStopHook only stops to wait at the end of the grace period',
  begin: ({ say }) => ({
    on: (fact) => {
      if (fact.f !== 'step' || fact.message.type !== 'effect.failed') return;
      const { effect, key, error } = fact.message;
      if (effect !== 'cri.ExecSync' || !key.startsWith('container/')) return;
      // The runtime's own words: a call whose answer is lost tells its deadline in others.
      if (error.message.includes('failed to exec in container: timeout')) say(`${fact.uid}: ${key}: ${error.message}`);
    },
  }),
};
