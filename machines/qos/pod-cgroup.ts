import type { Pod } from '../protocol/api-types.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { PodCgroup } from '../protocol/effects.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { milliToQuota, milliToShares } from './cpu-shares.ts';
import { hugepageBytes } from './huge-pages.ts';
import { hasPodLevelResources, podLimits, podRequests } from './pod-resources.ts';
import { podQosClass } from './qos-class.ts';
import { amountsOf, milli, units } from './resource-amounts.ts';

type CgroupSettings = Pick<NodeSettings, 'cgroupDriver' | 'cgroupRoot' | 'cgroupsPerQOS'>;

/** Name of a pod's own cgroup below its QoS parent. */
function podCgroupName(uid: string): string {
  return `pod${uid}`;
}

/**
 * A cgroup as a path in the hierarchy. cgroupfs: the parts as folders. systemd: nested slices, with `-` in a part
 * written `_`: `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice`.
 */
export function cgroupPath(parts: readonly string[], driver: 'cgroupfs' | 'systemd'): string {
  const used = parts.filter((part) => part !== '');
  if (used.length === 0) return '/';
  if (driver === 'cgroupfs') return `/${used.join('/')}`;
  const escaped = used.map((part) => part.replaceAll('-', '_'));
  return escaped.map((_, i) => `/${escaped.slice(0, i + 1).join('-')}.slice`).join('');
}

/** Parts of the QoS parent: the root, `kubepods`, and for burstable and best effort a level of their own. */
function qosParentParts(qos: ReturnType<typeof podQosClass>, settings: CgroupSettings): string[] {
  const root = settings.cgroupRoot.split('/').filter((part) => part !== '');
  if (!settings.cgroupsPerQOS) return root;
  return qos === 'Guaranteed' ? [...root, 'kubepods'] : [...root, 'kubepods', qos.toLowerCase()];
}

/** Paths of the cgroups in which pods are: that of all, in which guaranteed pods are, and those of the other classes. */
export interface QosCgroups {
  kubepods: string;
  burstable: string;
  bestEffort: string;
}

/** Where pods are by their class; null where cgroups per QoS are switched off. */
export function qosCgroups(settings: CgroupSettings): QosCgroups | null {
  if (!settings.cgroupsPerQOS) return null;
  const pathOf = (qos: ReturnType<typeof podQosClass>) =>
    cgroupPath(qosParentParts(qos, settings), settings.cgroupDriver);
  return { kubepods: pathOf('Guaranteed'), burstable: pathOf('Burstable'), bestEffort: pathOf('BestEffort') };
}

/** The sandbox's `cgroupParent`: the pod's cgroup, or the root where cgroups per QoS are switched off. */
export function cgroupParent(pod: Pod, settings: CgroupSettings & Pick<NodeSettings, 'behaviour'>): string {
  // Without a QoS tree kubelet names no parent (podContainerManagerNoop).
  if (!settings.cgroupsPerQOS && behaves(settings, 'noParentWithoutQos')) return '';
  if (!settings.cgroupsPerQOS) return cgroupPath(qosParentParts('Guaranteed', settings), 'cgroupfs');
  const parts = [...qosParentParts(podQosClass(pod), settings), podCgroupName(pod.metadata?.uid ?? '')];
  return cgroupPath(parts, settings.cgroupDriver);
}

/** The pod's cgroup and its limits, as the kubelet's ResourceConfigForPod has them. */
export function podCgroup(pod: Pod, settings: NodeSettings): PodCgroup {
  const requests = podRequests(pod);
  let cpuLimited = true;
  let memoryLimited = true;
  const limits = podLimits(pod, {
    each: (own) => {
      if (!own['cpu']) cpuLimited = false;
      if (!own['memory']) memoryLimited = false;
    },
  });
  if (hasPodLevelResources(pod)) {
    const own = amountsOf(pod.spec?.resources?.limits);
    if (own['cpu']) cpuLimited = true;
    if (own['memory']) memoryLimited = true;
  }

  const qos = podQosClass(pod);
  const cgroup: PodCgroup = { path: cgroupParent(pod, settings), cpuShares: milliToShares(0) };
  if (settings.podPidsLimit > 0) cgroup.pidsLimit = settings.podPidsLimit;
  const sizes = settings.hugePageSizes ?? [];
  if (sizes.length > 0 && behaves(settings, 'podHugePages')) cgroup.hugepageLimits = hugepageBytes(sizes, requests);
  const memoryMin = units(requests['memory']);
  if (settings.memoryQoS !== undefined && memoryMin > 0) cgroup.unified = { 'memory.min': String(memoryMin) };
  if (qos === 'BestEffort') return cgroup;

  cgroup.cpuShares = milliToShares(milli(requests['cpu']));
  if (qos === 'Guaranteed' || cpuLimited) {
    cgroup.cpuQuotaUs = settings.cpuCFSQuota ? milliToQuota(milli(limits['cpu']), settings.cpuCFSQuotaPeriodUs) : -1;
    cgroup.cpuPeriodUs = settings.cpuCFSQuotaPeriodUs;
  }
  if (qos === 'Guaranteed' || memoryLimited) cgroup.memoryLimitBytes = units(limits['memory']);
  return cgroup;
}
