import type { Container, Pod } from '../protocol/api-types.ts';
import { fillContainer, roundAmounts, roundResources } from './default-container.ts';
import { fillVolume } from './default-volume.ts';
import { podLevelResources } from './pod-level-resources.ts';

/**
 * Fills in what a manifest leaves out, as the API machinery does when it decodes a `v1.Pod` (`SetObjectDefaults_Pod`).
 * Applying it twice changes nothing. The given pod is not changed.
 */
export function defaultPod(pod: Pod): Pod {
  const filled = fillPod(pod);
  const given = filled.spec;
  if (!given) return filled;
  const spec = {
    ...given,
    containers: given.containers.map(roundResources),
    ...(given.initContainers ? { initContainers: given.initContainers.map(roundResources) } : {}),
    ...(given.ephemeralContainers ? { ephemeralContainers: given.ephemeralContainers.map(roundResources) } : {}),
    ...(given.overhead ? { overhead: roundAmounts(given.overhead) } : {}),
  };
  const resources = podLevelResources(spec);
  return { ...filled, spec: resources ? { ...spec, resources } : spec };
}

/** Requests of an ephemeral container do not follow from its limits, and its ports are not the node's. */
function fillEphemeral<C extends Container>(container: C): C {
  return { ...fillContainer(container, false), resources: container.resources ?? {} };
}

/** What {@link defaultPod} fills in, amounts left as they were written, and without those of the pod as a whole. */
export function fillPod(pod: Pod): Pod {
  const given = pod.spec;
  if (!given) return pod;
  const hostNetwork = given.hostNetwork === true;
  const account = given.serviceAccountName || given.serviceAccount;
  const spec = {
    ...given,
    containers: (given.containers ?? []).map((container) => fillContainer(container, hostNetwork)),
    ...(given.initContainers
      ? { initContainers: given.initContainers.map((container) => fillContainer(container, hostNetwork)) }
      : {}),
    ...(given.ephemeralContainers ? { ephemeralContainers: given.ephemeralContainers.map(fillEphemeral) } : {}),
    ...(given.volumes ? { volumes: given.volumes.map(fillVolume) } : {}),
    // `serviceAccount` is the deprecated name of `serviceAccountName`; the API keeps both equal.
    ...(account ? { serviceAccountName: account, serviceAccount: account } : {}),
    enableServiceLinks: given.enableServiceLinks ?? true,
    dnsPolicy: given.dnsPolicy || 'ClusterFirst',
    restartPolicy: given.restartPolicy || 'Always',
    securityContext: given.securityContext ?? {},
    terminationGracePeriodSeconds: given.terminationGracePeriodSeconds ?? 30,
    schedulerName: given.schedulerName || 'default-scheduler',
  };
  return { ...pod, spec };
}
