import { status } from '@grpc/grpc-js';
import { CgroupDriver } from '../generated/runtime/v1/api.ts';
import type { RuntimeCondition } from '../generated/runtime/v1/api.ts';
import type { RuntimeHandlers } from './handlers.ts';
import type { ConditionName } from './readiness.ts';
import { RpcError } from './rpc-error.ts';
import type { SimCore } from './sim-core.ts';
import { verboseOnly } from './status-shapes.ts';

/** RuntimeService's part about the runtime itself. */
export function nodeHandlers(
  core: SimCore,
): Pick<RuntimeHandlers, 'version' | 'status' | 'runtimeConfig' | 'updateRuntimeConfig'> {
  const { runtime } = core.plan;
  let podCidr = '';
  return {
    version: () => ({
      version: '0.1.0',
      runtimeName: runtime.name,
      runtimeVersion: runtime.version,
      runtimeApiVersion: 'v1',
    }),
    status: ({ verbose }) => ({
      status: { conditions: [condition(core, 'RuntimeReady'), condition(core, 'NetworkReady')] },
      info: verboseOnly(verbose, 'config', () => ({ simulated: true, seed: core.seed, podCidr, ...runtime })),
      runtimeHandlers: runtime.handlers.map(({ name, ...features }) => ({ name, features })),
      features: { supplementalGroupsPolicy: runtime.supplementalGroupsPolicy },
    }),
    runtimeConfig: () => {
      if (!runtime.supportsRuntimeConfig) {
        throw new RpcError(status.UNIMPLEMENTED, 'method RuntimeConfig not implemented');
      }
      const systemd = runtime.cgroupDriver === 'systemd';
      return { linux: { cgroupDriver: systemd ? CgroupDriver.SYSTEMD : CgroupDriver.CGROUPFS } };
    },
    // As with a containerd that has a CNI config of its own: the range is taken note of and not used.
    updateRuntimeConfig: ({ runtimeConfig }) => {
      podCidr = runtimeConfig?.networkConfig?.podCidr ?? podCidr;
      return {};
    },
  };
}

function condition(core: SimCore, type: ConditionName): RuntimeCondition {
  const problem = core.readiness.problem(type);
  return {
    type,
    status: problem === undefined,
    reason: problem?.reason ?? '',
    message: problem?.message ?? '',
  };
}
