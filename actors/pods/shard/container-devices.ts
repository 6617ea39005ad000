import type { DeviceOptions } from '../../../machines/protocol/device-options.ts';
import type { AskCatalog } from '../../../machines/protocol/ask.ts';
import type { ContainerConfig } from '../../../machines/protocol/cri-shapes.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import { messageOf } from '../../../machines/values/message-of.ts';

/** Asks the node what plugins gave a container; see {@link AskCatalog} `devices.Get`. */
export type DevicesOf = (params: AskCatalog['devices.Get']['params']) => Promise<AskCatalog['devices.Get']['result']>;

/**
 * The effect with what device plugins gave its container put in: machines only say that it asks for some, since devices are the node's to
 * give. Rejects with the code of a container that cannot be configured, as kubelet calls it.
 */
export async function withDevices(effect: Effect, podUid: string, devicesOf: DevicesOf | undefined): Promise<Effect> {
  if (effect.type !== 'cri.CreateContainer' || effect.params.devices !== true) return effect;
  const { devices: _asks, ...params } = effect.params;
  const container = params.config.metadata.name;
  const answer = await devicesOf?.({ podUid, container }).catch((error: unknown) => {
    throw Object.assign(new Error(messageOf(error), { cause: error }), { code: 'CreateContainerConfigError' });
  });
  const given = answer?.options ?? null;
  if (given === null) return { ...effect, params };
  return { ...effect, params: { ...params, config: withOptions(params.config, given) } };
}

/** As kubelet joins them: what the plugins gave comes first, and of annotations the container's own count. */
function withOptions(config: ContainerConfig, given: DeviceOptions): ContainerConfig {
  return {
    ...config,
    mounts: [...given.mounts, ...config.mounts],
    devices: [...given.devices, ...config.devices],
    annotations: { ...given.annotations, ...config.annotations },
    envs: [...given.envs, ...config.envs],
    ...(given.cdiDevices.length > 0 && { CDIDevices: given.cdiDevices }),
  };
}
