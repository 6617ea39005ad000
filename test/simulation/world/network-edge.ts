import type { Effect } from '../../../machines/protocol/effects.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Does this probe (or hook) of this container say yes now? */
export type Says = (uid: string, container: string, kind: string) => boolean;

/**
 * Answers to probes and hooks over the network. Paths are `/<container>/<kind>` and ports are drawn for each container,
 * so that the world knows who is asked.
 */
export async function answerNetwork(effect: Effect, uid: string, time: VirtualTime, says: Says): Promise<unknown> {
  const { owner } = time;
  await new Promise<void>((resolve) => time.after(3, owner, resolve, false));
  switch (effect.type) {
    case 'net.HttpGet': {
      const [, container = '', kind = ''] = effect.params.path.split('/');
      return says(uid, container, kind) ? { status: 200, body: 'ok' } : { status: 500, body: 'no' };
    }
    case 'net.GrpcHealth': {
      const [container = '', kind = ''] = effect.params.service.split('/');
      return { status: says(uid, container, kind) ? 'SERVING' : 'NOT_SERVING' };
    }
    default:
      return {};
  }
}
