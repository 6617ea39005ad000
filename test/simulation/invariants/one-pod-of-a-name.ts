import type { Rule } from './rule.ts';

/** A static pod waits until the one before it of the same name is gone; one of the API does not. */
export const onePodOfAName: Rule = {
  name: 'one pod of a name',
  source: 'kubelet podWorkers.allowPodStart: a static pod waits for the pod of the same full name to end',
  begin: ({ book, say, world: { workload } }) => ({
    on: (fact) => {
      if (fact.f !== 'container' || fact.change !== 'started') return;
      const ofApi = (uid: string): boolean => workload.planOf(uid)?.source === 'api';
      if (ofApi(fact.uid)) return;
      const { name, namespace } = fact.record.sandbox.metadata;
      for (const { record, uid, startedAt } of book.containers.values()) {
        const other = record.sandbox.metadata;
        // What an earlier agent left running may belong to a pod that no source has named yet: kubelet starts then, too.
        if (book.lastBreak > (startedAt ?? 0)) continue;
        if (
          record.state === 1 &&
          !ofApi(uid) &&
          uid !== fact.uid &&
          other.name === name &&
          other.namespace === namespace
        )
          say(`${namespace}/${name}: a container of ${fact.uid} starts while one of ${uid} runs`);
      }
    },
  }),
};
