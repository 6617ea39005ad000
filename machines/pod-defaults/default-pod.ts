import type { Pod } from '../protocol/api-types.ts';
import { defaultContainer, roundAmounts } from './default-container.ts';
import { defaultVolume } from './default-volume.ts';
import { podLevelResources } from './pod-level-resources.ts';

/**
 * Fills in what a manifest leaves out, as the API machinery does when it decodes a `v1.Pod` (`SetObjectDefaults_Pod`).
 * Applying it twice changes nothing. The given pod is not changed.
 */
export function defaultPod(pod: Pod): Pod {
  const given = pod.spec;
  if (!given) return pod;
  const hostNetwork = given.hostNetwork === true;
  const account = given.serviceAccountName || given.serviceAccount;
  const spec = {
    ...given,
    containers: (given.containers ?? []).map((container) => defaultContainer(container, hostNetwork)),
    ...(given.initContainers
      ? { initContainers: given.initContainers.map((container) => defaultContainer(container, hostNetwork)) }
      : {}),
    ...(given.ephemeralContainers
      ? { ephemeralContainers: given.ephemeralContainers.map((container) => defaultContainer(container, false)) }
      : {}),
    ...(given.volumes ? { volumes: given.volumes.map(defaultVolume) } : {}),
    ...(given.overhead ? { overhead: roundAmounts(given.overhead) } : {}),
    // `serviceAccount` is the deprecated name of `serviceAccountName`; the API keeps both equal.
    ...(account ? { serviceAccountName: account, serviceAccount: account } : {}),
    enableServiceLinks: given.enableServiceLinks ?? true,
    dnsPolicy: given.dnsPolicy || 'ClusterFirst',
    restartPolicy: given.restartPolicy || 'Always',
    securityContext: given.securityContext ?? {},
    terminationGracePeriodSeconds: given.terminationGracePeriodSeconds ?? 30,
    schedulerName: given.schedulerName || 'default-scheduler',
  };
  const resources = podLevelResources(spec);
  return { ...pod, spec: resources ? { ...spec, resources } : spec };
}
