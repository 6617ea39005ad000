import { forPod } from './for-pod.ts';
import { volumeOwner, volumeSetups } from '../volumes/volume-setups.ts';
import type { Effect } from '../protocol/effects.ts';
import { tellContainer } from './children.ts';
import type { Draft } from './draft.ts';
import { forgetTasks, podEvent, taskOf, want, own } from './draft.ts';

const setupsOf = forPod((pod, settings) => volumeSetups(pod, null, settings));

/** Wants all volumes set up; true once they are. A fault of the spec is told once and not tried again until it changes. */
export function wantVolumes(draft: Draft): boolean {
  const { context } = draft;
  const setups = setupsOf(context.pod, context.settings);
  if ('error' in setups) {
    if (taskOf(draft, 'volumes')?.error?.message !== setups.error) {
      podEvent(draft, 'Warning', 'FailedMount', setups.error);
      own(draft, 'tasks')['volumes'] = {
        state: 'failed',
        key: '',
        failures: 1,
        retryAt: Number.MAX_SAFE_INTEGER,
        error: { code: 'EINVAL', message: setups.error },
      };
    }
    return false;
  }
  const setUp = (key: string): Effect => ({
    type: 'host.SetUpVolumes',
    key,
    params: {
      podUid: context.uid,
      owner: volumeOwner(context.pod, context.settings),
      fsGroup: context.pod.spec?.securityContext?.fsGroup,
      volumes: setups.volumes,
    },
  });
  if (!want(draft, 'volumes', setUp)) return false;
  refresh(draft, setUp);
  return true;
}

/**
 * Objects that volumes show have changed: they are set up again beside what runs, and nothing waits for it. What
 * waits for a missing object is tried at once.
 */
export function volumesChanged(draft: Draft): void {
  const { context, at } = draft;
  const first = taskOf(draft, 'volumes');
  if (first?.state === 'failed' && first.retryAt !== Number.MAX_SAFE_INTEGER)
    own(draft, 'tasks')['volumes'] = { ...first, failures: 0, retryAt: at };
  context.volumesStale = true;
  for (const name of Object.keys(context.containers)) tellContainer(draft, name, { type: 'refresh' });
}

function refresh(draft: Draft, setUp: (key: string) => Effect): void {
  const { context } = draft;
  const task = taskOf(draft, 'volumes.refresh');
  if (task?.state === 'running') return;
  if (context.volumesStale) {
    context.volumesStale = false;
    forgetTasks(draft, 'volumes.refresh');
    want(draft, 'volumes.refresh', setUp);
  } else if (task?.state === 'failed') want(draft, 'volumes.refresh', setUp);
}
