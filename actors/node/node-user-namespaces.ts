import type { CriClient } from '../../cri/client/cri-client.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { nodeErrors } from '../../machines/errors/node-errors.ts';
import type { FeatureGates } from '../configure/configuration/feature-gates.ts';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';
import { nodeIdRange } from '../host/userns/node-id-range.ts';
import { UserNamespaces } from '../host/userns/user-namespaces.ts';

const DEFAULT_IDS_PER_POD = 65_536;

/** The node's allocation of ids to pods with users of their own. Throws NOD007 for a node that cannot have one. */
export async function nodeUserNamespaces(options: {
  config: KubeletConfiguration;
  featureGates: FeatureGates;
  rootDir: string;
  cri: CriClient;
}): Promise<UserNamespaces> {
  const { config, featureGates, rootDir, cri } = options;
  const idsPerPod = Number(config.userNamespaces?.idsPerPod ?? DEFAULT_IDS_PER_POD);
  const enabled = featureGates.enabled('UserNamespacesSupport');
  try {
    // With the gate off nothing is given out, so nothing of the machine is asked.
    const range = enabled
      ? await nodeIdRange(idsPerPod)
      : { first: idsPerPod, length: Math.floor(2 ** 32 / idsPerPod - 1) * idsPerPod };
    return await UserNamespaces.open({
      rootDir,
      enabled,
      range,
      idsPerPod,
      maxPods: config.maxPods,
      handlers: async () => {
        const { runtimeHandlers } = await cri.runtime.status({});
        if (runtimeHandlers.length === 0) return null;
        return new Map(runtimeHandlers.map((h) => [h.name, h.features?.userNamespaces ?? false]));
      },
    });
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new ActorletError(nodeErrors.userNamespaces, { problem }, { cause: error });
  }
}
