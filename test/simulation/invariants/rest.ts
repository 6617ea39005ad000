import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { Rule } from './rule.ts';

/** What happened so shortly before the end may not have been told yet, ms: a relist a second, and a status after it. */
const FRESH_MS = 10_000;

/** Once nothing goes wrong any more, what the API shows of containers is what the runtime holds. */
export const restIsTold: Rule = {
  name: 'what is shown as running runs, when all has come to rest',
  source: 'ContainerStateRunning; a relist each second (GenericPLEG)',
  begin: ({ world, say }) => ({
    end: () => {
      const { api, runtime, time } = world;
      const held = runtime.core.containers.byId;
      for (const pod of api.list()) {
        for (const { name, state, containerID = '' } of statusesOf(pod)) {
          if (state?.running === undefined) continue;
          const record = held.get(containerID.replace(/^.*:\/\//, ''));
          const endedMs = Number(BigInt(record?.finishedAt ?? '0') / 1_000_000n);
          if (record?.state === 1 || endedMs > time.wall() - FRESH_MS) continue;
          say(`${pod.metadata?.name ?? ''}/${name} is shown as running: ${record === undefined ? 'gone' : 'ended'}`);
        }
      }
    },
  }),
};

function statusesOf({ status }: Pod) {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}
