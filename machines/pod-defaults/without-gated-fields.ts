import type { Container, Pod, Volume } from '../protocol/api-types.ts';
import { hasPodLevelResources } from '../qos/pod-resources.ts';

/** Feature gates of fields of a pod's spec, each on unless false. */
export interface SpecGates {
  /** `ContainerRestartRules` (KEP-5307). */
  containerRestartRules?: boolean;
  /** `HostnameOverride` (KEP-4762). */
  hostnameOverride?: boolean;
  /** `ImageVolume` (KEP-4639). */
  imageVolume?: boolean;
  /** `PodLevelResources` (KEP-2837). */
  podLevelResources?: boolean;
}

/**
 * The pod without the fields whose gates are off, so that all who work on it take the field for not set, as kubelet does at
 * each place that asks for the gate. The same object when there is nothing to leave out. An image volume stays as a volume of
 * no known kind: its pod waits for it, as one waits for a plugin that kubelet has not. Resources that count for the whole pod
 * stay, too: the node does not take such a pod (`admitPod`).
 */
export function withoutGatedFields(pod: Pod, gates: SpecGates): Pod {
  const { spec } = pod;
  if (spec === undefined || !Object.values(gates).includes(false)) return pod;
  const out = { ...spec };
  if (gates.hostnameOverride === false) delete out.hostnameOverride;
  if (gates.podLevelResources === false && !hasPodLevelResources(pod)) delete out.resources;
  if (gates.imageVolume === false && out.volumes?.some(({ image }) => image !== undefined))
    out.volumes = out.volumes.map(withoutImage);
  if (gates.containerRestartRules === false) {
    out.containers = out.containers.map((container) => withoutPolicy(container, false));
    if (out.initContainers !== undefined)
      out.initContainers = out.initContainers.map((container) => withoutPolicy(container, true));
  }
  return { ...pod, spec: out };
}

/** Without any source it would be an emptyDir. The name of the kind is what people read in the event that it is not known. */
const NO_KIND: object = { ['image (feature gate ImageVolume is off)']: {} };

function withoutImage(volume: Volume): Volume {
  const { image, ...rest } = volume;
  return image === undefined ? volume : { ...rest, ...NO_KIND };
}

/** An init container with the policy Always is a sidecar, which is no matter of this gate. */
function withoutPolicy(container: Container, init: boolean): Container {
  const { restartPolicy, restartPolicyRules: _left, ...rest } = container;
  return init && restartPolicy === 'Always' ? { ...rest, restartPolicy } : rest;
}
