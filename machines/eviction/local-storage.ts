import type { Pod } from '../protocol/api-types.ts';
import { isCriticalPod } from '../qos/critical-pod.ts';
import { podLimits } from '../qos/pod-resources.ts';
import { canonicalQuantity, formatQuantity, parseQuantity, quantityFormat } from '../values/quantity.ts';
import type { PodFigures } from './pod-use.ts';

/** What of local storage a pod may be evicted for: label of metric `kubelet_evictions`. */
export type LocalLimit = 'emptydirfs.limit' | 'ephemeralpodfs.limit' | 'ephemeralcontainerfs.limit';

/** A pod that takes more of the node's disk than it may. */
export interface Offender {
  uid: string;
  namespace: string;
  name: string;
  limit: LocalLimit;
  /** In kubelet's words. */
  message: string;
  /** Bytes that it takes. */
  used: number;
}

const STORAGE = 'ephemeral-storage';
const NANO = 1_000_000_000n;

/** Has it a limit on local storage at all? Only of such pods figures are needed. */
export function hasLocalLimit(pod: Pod): boolean {
  const { containers = [], initContainers = [], volumes = [] } = pod.spec ?? {};
  return (
    volumes.some(({ emptyDir }) => emptyDir?.sizeLimit !== undefined) ||
    [...containers, ...initContainers].some(({ resources }) => resources?.limits?.[STORAGE] !== undefined)
  );
}

/**
 * The limit that a pod breaks: first its emptyDir volumes, then all of it together, then its containers (kubelet's
 * localStorageEviction). Null when none, and for a critical pod.
 * @param imageFs images, and with them writable layers, are on a disk of their own: layers do not count for a container then
 */
export function offence(pod: Pod, stats: PodFigures, imageFs: boolean): Offender | null {
  if (isCriticalPod(pod)) return null;
  const broken = emptyDirs(pod, stats) ?? wholePod(pod, stats) ?? containers(pod, stats, imageFs);
  if (broken === null) return null;
  const { uid = '', namespace = '', name = '' } = pod.metadata ?? {};
  return { uid, namespace, name, ...broken };
}

type Broken = Pick<Offender, 'limit' | 'message' | 'used'>;

function emptyDirs(pod: Pod, stats: PodFigures): Broken | null {
  for (const { name, emptyDir } of pod.spec?.volumes ?? []) {
    const limit = emptyDir?.sizeLimit;
    const used = stats.volume?.find((volume) => volume.name === name)?.usedBytes;
    if (limit === undefined || used === undefined || !isOver(used, limit)) continue;
    const message = `Usage of EmptyDir volume ${JSON.stringify(name)} exceeds the limit "${canonicalQuantity(limit)}". `;
    return { limit: 'emptydirfs.limit', message, used };
  }
  return null;
}

function wholePod(pod: Pod, stats: PodFigures): Broken | null {
  const limit = podLimits(pod)[STORAGE];
  const used = stats[STORAGE]?.usedBytes ?? 0;
  if (limit === undefined || BigInt(used) * NANO <= limit) return null;
  const written = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])]
    .map(({ resources }) => resources?.limits?.[STORAGE])
    .find((text) => text !== undefined && parseQuantity(text) !== 0n);
  const text = formatQuantity(limit, quantityFormat(written ?? '0'));
  const message = `Pod ephemeral local storage usage exceeds the total limit of containers ${text}. `;
  return { limit: 'ephemeralpodfs.limit', message, used };
}

function containers(pod: Pod, stats: PodFigures, imageFs: boolean): Broken | null {
  for (const { name, rootfs, logs } of stats.containers) {
    const limit = pod.spec?.containers.find((each) => each.name === name)?.resources?.limits?.[STORAGE];
    const used = (logs?.usedBytes ?? 0) + (imageFs ? 0 : (rootfs?.usedBytes ?? 0));
    if (limit === undefined || !isOver(used, limit)) continue;
    const message = `Container ${name} exceeded its local ephemeral storage limit "${canonicalQuantity(limit)}". `;
    return { limit: 'ephemeralcontainerfs.limit', message, used };
  }
  return null;
}

/** A limit of 0 is none. */
function isOver(used: number, limit: string): boolean {
  const most = parseQuantity(limit) ?? 0n;
  return most > 0n && BigInt(used) * NANO > most;
}
