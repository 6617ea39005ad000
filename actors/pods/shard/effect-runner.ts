import type { Logger } from 'pino';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { CriError } from '../../../cri/client/cri-error.ts';
import type { Effect, EffectCatalog, EffectType } from '../../../machines/protocol/effects.ts';
import type { EffectDone, EffectFailed } from '../../../machines/protocol/messages.ts';
import { diskTrouble } from '../../host/files/disk-trouble.ts';
import { hostEffects } from '../../host/effects/host-effects.ts';
import type { HostSettings } from '../../host/files/host-settings.ts';
import { netEffects } from '../prober/net-effects.ts';
import type { Ask } from '../../../machines/protocol/ask.ts';
import { criEffects } from './cri-effects.ts';
import { withDevices } from './container-devices.ts';
import type { DevicesOf } from './container-devices.ts';
import { inUserNamespace } from './user-namespace.ts';
import type { UserNamespaceOf } from './user-namespace.ts';
import { usableImage } from './usable-image.ts';
import type { MayUseImage } from './usable-image.ts';

/** What the runner needs to act. */
export interface RunnerSettings {
  cri: CriClient;
  host: HostSettings;
  now: () => number;
  /** May a pod use an image that is on the node? Without it all may. */
  mayUseImage?: MayUseImage;
  /** Ids of pods with users of their own; without it such pods run with the node's. */
  userNamespaceOf?: UserNamespaceOf;
  /** What device plugins gave a container; without it nothing. */
  devicesOf?: DevicesOf;
  /** Seconds that each effect took, with its outcome. */
  onDone: (effect: Effect, seconds: number, error: { code: string; message: string } | null) => void;
}

/** Outcome of an effect as a message. */
export type Outcome = EffectDone | EffectFailed;

type Executor = (params: never) => Promise<unknown>;
type ImageStatus = EffectCatalog['image.Status']['result'];

/** Makes the function that carries out an effect of a pod of this shard and reports its outcome; it never rejects. */
export function effectRunner(settings: RunnerSettings): (effect: Effect, podUid?: string) => Promise<Outcome> {
  const { cri, host, now, mayUseImage, userNamespaceOf, devicesOf, onDone } = settings;
  const executors = new Map<EffectType, Executor>();
  for (const [type, run] of Object.entries(criEffects))
    executors.set(type as EffectType, (params) =>
      (run as (p: unknown, c: CriClient, log: Logger, ask?: Ask) => Promise<unknown>)(params, cri, host.log, host.ask),
    );
  for (const [type, run] of [...Object.entries(hostEffects), ...Object.entries(netEffects)]) {
    executors.set(type as EffectType, (params) =>
      (run as (p: unknown, h: HostSettings) => Promise<unknown>)(params, host),
    );
  }
  return async (effect, podUid = '') => {
    const began = performance.now();
    let error: { code: string; message: string } | null = null;
    let result: unknown;
    try {
      const run = executors.get(effect.type);
      if (run === undefined)
        throw Object.assign(new Error(`no executor for ${effect.type}`), { code: 'Unimplemented' });
      const equipped = await withDevices(effect, podUid, devicesOf);
      const { params } = await inUserNamespace(equipped, podUid, host.ask, userNamespaceOf);
      result = await run(params as never);
      if (effect.type === 'image.Status' && mayUseImage !== undefined)
        result = await usableImage(result as ImageStatus, { podUid, image: effect.params.image }, mayUseImage);
    } catch (thrown) {
      error = errorOf(effect.type.startsWith('host.') ? await diskTrouble(thrown, host.rootDir) : thrown);
    }
    onDone(effect, (performance.now() - began) / 1000, error);
    const base = { at: now(), effect: effect.type, key: effect.key };
    return error === null
      ? ({ type: 'effect.done', ...base, result } as EffectDone)
      : { type: 'effect.failed', ...base, error };
  };
}

/** Code and text of a failure: the runtime's own words for CRI errors, else the error's. */
export function errorOf(thrown: unknown): { code: string; message: string } {
  if (thrown instanceof CriError) return { code: thrown.code, message: thrown.details };
  if (thrown instanceof Error) {
    const { code } = thrown as Error & { code?: unknown };
    return { code: typeof code === 'string' ? code : 'EUNKNOWN', message: thrown.message };
  }
  return { code: 'EUNKNOWN', message: String(thrown) };
}
