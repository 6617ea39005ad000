import type { Rule } from './rule.ts';

/** Two running containers of one name in one pod would write the same files and serve the same port. */
export const oneContainerOfAName: Rule = {
  name: 'one container of a name',
  source: 'core/v1 Container.name: "Each container in a pod must have a unique name"; kubelet computePodActions',
  begin: ({ say }) => {
    const running = new Map<string, string>();
    return {
      on: (fact) => {
        if (fact.f !== 'container') return;
        const { id, metadata } = fact.record;
        const key = `${fact.uid}/${metadata.name}`;
        if (fact.change !== 'started') {
          if (running.get(key) === id && fact.change !== 'created') running.delete(key);
          return;
        }
        const other = running.get(key);
        if (other !== undefined && other !== id)
          say(`${key}: ${id.slice(0, 8)} starts while ${other.slice(0, 8)} runs`);
        running.set(key, id);
      },
    };
  },
};
