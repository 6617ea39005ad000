import type { IdMapping, NamespaceOption } from '../../../machines/protocol/cri-shapes.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { Ask, AskCatalog } from '../../../machines/protocol/ask.ts';
import { handlerOf } from './runtime-class.ts';

/** Asks the node for a pod's ids; see {@link AskCatalog} `userns.Get`. */
export type UserNamespaceOf = (
  params: AskCatalog['userns.Get']['params'],
) => Promise<AskCatalog['userns.Get']['result']>;

/**
 * The effect with the pod's ids put in, where its pod has a user namespace of its own (KEP-127): machines only say that it
 * has one, since who gets which ids is the node's to know. All mounts of a container are mapped, so files keep their owners.
 */
export async function inUserNamespace(
  effect: Effect,
  podUid: string,
  ask: Ask | undefined,
  idsOf: UserNamespaceOf | undefined,
): Promise<Effect> {
  if (idsOf === undefined) return effect;
  if (effect.type === 'cri.RunPodSandbox') {
    const { config, runtimeHandler, runtimeClass } = effect.params;
    if (!ownUsers(config.linux.securityContext.namespaceOptions)) return effect;
    const handler = runtimeClass === undefined ? runtimeHandler : await handlerOf(runtimeClass, ask);
    const ids = idsOfBlock(await idsOf({ podUid, handler }));
    return { ...effect, params: { ...effect.params, config: withIds(config, ids) } };
  }
  if (effect.type !== 'cri.CreateContainer') return effect;
  const { config, sandboxConfig } = effect.params;
  if (!ownUsers(config.linux.securityContext.namespaceOptions)) return effect;
  const ids = idsOfBlock(await idsOf({ podUid, handler: null }));
  const mounts = config.mounts.map((mount) => ({ ...mount, uidMappings: ids, gidMappings: ids }));
  return {
    ...effect,
    params: {
      ...effect.params,
      config: { ...withIds(config, ids), mounts },
      sandboxConfig: withIds(sandboxConfig, ids),
    },
  };
}

function ownUsers({ usernsOptions }: NamespaceOption): boolean {
  return usernsOptions?.mode === 0;
}

function idsOfBlock({ hostId, length }: { hostId: number; length: number }): IdMapping[] {
  return [{ hostId, containerId: 0, length }];
}

function withIds<C extends { linux: { securityContext: { namespaceOptions: NamespaceOption } } }>(
  config: C,
  ids: IdMapping[],
): C {
  const { linux } = config;
  const { securityContext } = linux;
  const usernsOptions = { mode: 0 as const, uids: ids, gids: ids };
  const namespaceOptions = { ...securityContext.namespaceOptions, usernsOptions };
  return { ...config, linux: { ...linux, securityContext: { ...securityContext, namespaceOptions } } };
}
