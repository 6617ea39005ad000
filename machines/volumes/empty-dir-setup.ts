import { parseQuantity } from '../values/quantity.ts';
import type { Pod, Volume } from '../protocol/api-types.ts';
import type { VolumeSetup } from '../protocol/effects.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { podCgroup } from '../qos/pod-cgroup.ts';
import { podLimits } from '../qos/pod-resources.ts';
import { amountsOf, units } from '../qos/resource-amounts.ts';

const HUGE_PAGES = 'HugePages';
const HUGE_RESOURCE = 'hugepages-';

/** An `emptyDir` of any medium; in memory the size is bounded by {@link memoryBytes} and `sizeLimit`. A string: why not. */
export function emptyDirSetup(pod: Pod, { name, emptyDir }: Volume, settings: NodeSettings): VolumeSetup | string {
  const medium = emptyDir?.medium ?? '';
  const asked = units(amountsOf({ size: emptyDir?.sizeLimit ?? '0' })['size']);
  if (medium === HUGE_PAGES || medium.startsWith(`${HUGE_PAGES}-`)) {
    const found = hugePageSize(pod, medium);
    return 'fault' in found ? found.fault : { name, kind: 'emptyDir', medium, hugePageSize: found.size };
  }
  if (medium !== 'Memory') {
    const quota = medium === '' && settings.volumeQuotas === true && pod.spec?.hostUsers === false;
    return {
      ...{ name, kind: 'emptyDir', medium },
      ...(asked > 0 && { sizeLimitBytes: asked }),
      ...(quota && { quotaBytes: quotaBytes(pod, asked) }),
    };
  }
  const most = memoryBytes(pod, settings);
  return { name, kind: 'emptyDir', medium, sizeLimitBytes: asked > 0 ? Math.min(asked, most) : most };
}

/** The lesser of the pod's limit on local storage and the volume's own; 0: neither is there (kubelet's desiredSizeLimit). */
function quotaBytes(pod: Pod, asked: number): number {
  const limit = units(podLimits(pod)['ephemeral-storage'] ?? 0n);
  return asked > 0 && (limit === 0 || asked < limit) ? asked : limit;
}

/** The most that a pod's files in memory may take: its memory limit or what the node gives to pods. */
export function memoryBytes(pod: Pod, settings: NodeSettings): number {
  const limit = podCgroup(pod, settings).memoryLimitBytes ?? 0;
  const bounds = [settings.allocatable.memoryBytes, limit].filter((bytes) => bytes > 0);
  return bounds.length === 0 ? 0 : Math.min(...bounds);
}

/** The page size comes from what the pod requests: the medium may name one, else there must be a single one. */
function hugePageSize(pod: Pod, medium: string): { size: string } | { fault: string } {
  const anySize = medium === HUGE_PAGES;
  const wanted = anySize ? undefined : parseQuantity(medium.slice(HUGE_PAGES.length + 1));
  const requested = new Map<bigint, string>();
  const lists = [pod.spec?.resources, ...(pod.spec?.containers ?? []).map((c) => c.resources)];
  lists.push(...(pod.spec?.initContainers ?? []).map((c) => c.resources));
  for (const name of lists.flatMap((list) => Object.keys(list?.requests ?? {}))) {
    if (!name.startsWith(HUGE_RESOURCE)) continue;
    const text = name.slice(HUGE_RESOURCE.length);
    const bytes = parseQuantity(text);
    if (bytes !== undefined && (anySize || wanted === bytes)) requested.set(bytes, text);
  }
  if (requested.size > 1)
    return { fault: `medium: ${medium} can't be used if container requests multiple huge page sizes` };
  const [size] = requested.values();
  if (size !== undefined) return { size };
  return { fault: `medium ${medium}: hugePages storage requested, but there is no resource request for huge pages` };
}
