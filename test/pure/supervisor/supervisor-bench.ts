import pino from 'pino';
import { PodStore } from '../../../actors/pods/store/pod-store.ts';
import { Supervisor } from '../../../actors/pods/supervisor/supervisor.ts';
import type { SupervisorOptions } from '../../../actors/pods/supervisor/supervisor.ts';
import type { ObservedPod } from '../../../machines/protocol/observed.ts';

/** A supervisor of one shard at the time 5, of a runtime that is well, with nothing remembered. */
export function supervisorWith(options: Pick<SupervisorOptions, 'post'> & Partial<SupervisorOptions>): Supervisor {
  return new Supervisor({
    shards: 1,
    log: pino({ level: 'silent' }),
    now: () => 5,
    store: new PodStore(),
    runtimeState: () => ({ runtimeReady: true, networkReady: true }),
    remembered: () => null,
    ...options,
  });
}

/** A look at a pod of the name `web` that has a sandbox. */
export function seenPod(uid: string, at: number): ObservedPod {
  return {
    uid,
    name: 'web',
    namespace: 'default',
    at,
    sandboxes: [{ id: 's', state: 'ready' }],
    containers: [],
  } as unknown as ObservedPod;
}
