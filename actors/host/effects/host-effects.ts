import type { EffectCatalog, EffectType } from '../../../machines/protocol/effects.ts';
import { ensurePodCgroup, removePodCgroup } from '../cgroups/cgroups.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { linkLog, removeContainerLog, removePodLogs } from '../logs/log-links.ts';
import { readPodResources, updatePodCgroup } from './pod-resources.ts';
import { prepareContainer } from './prepare-container.ts';
import { readTerminationMessage } from './termination-message.ts';
import { setUpVolumes, tearDownPod } from '../volumes/volumes.ts';

/** Effects on the node's files, mounts and cgroups. */
export type HostEffectType = Extract<EffectType, `host.${string}`>;

/**
 * Who carries out each `host.*` effect. All may be called again with the same params and from several threads for
 * different pods. A rejection is an Error with a `code` (errno name, registry code or own name) and a message.
 */
export const hostEffects: {
  readonly [T in HostEffectType]: (
    params: EffectCatalog[T]['params'],
    settings: HostSettings,
  ) => Promise<EffectCatalog[T]['result']>;
} = {
  'host.EnsurePodCgroup': ensurePodCgroup,
  'host.RemovePodCgroup': removePodCgroup,
  'host.UpdatePodCgroup': updatePodCgroup,
  'host.ReadPodResources': readPodResources,
  'host.SetUpVolumes': setUpVolumes,
  'host.TearDownPod': tearDownPod,
  'host.PrepareContainer': prepareContainer,
  'host.LinkLog': linkLog,
  'host.RemoveContainerLog': removeContainerLog,
  'host.RemovePodLogs': removePodLogs,
  'host.ReadTerminationMessage': readTerminationMessage,
};
