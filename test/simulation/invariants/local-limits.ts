import type { PodStats } from '../../../actors/resources/stats/summary.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { isCriticalPod } from '../../../machines/qos/critical-pod.ts';
import { evictionOf } from './eviction.ts';
import type { Rule } from './rule.ts';

/** A pod over its limit may be told so often before it goes: the look that finds it, and one that had begun. */
const LOOKS = 3;
const PATIENCE_MS = 25_000;
const HUNG_MS = 150_000;

/** A pod that takes more of the disk than it may goes, and no other for that reason. */
export const localLimitsAreKept: Rule = {
  name: 'a pod over its own limit of local storage goes, and nobody else for one',
  source:
    'kubelet localStorageEviction: emptyDirLimitEviction, podEphemeralStorageLimitEviction, containerEphemeral...',
  begin: ({ world, book, say }) => {
    let over = new Map<string, { since: number; looks: number }>();
    return {
      on: (fact) => {
        if (fact.f === 'agent' || fact.f === 'worker') over = new Map();
        const told = world.usage.told.at(-1);
        const imageFs = (world.plan.node.disks ?? 'one') !== 'one';
        const eviction = evictionOf(fact);
        if (eviction?.resource === null) {
          const { uid, message } = eviction;
          const stats = told?.pods?.find(({ podRef }) => podRef.uid === uid);
          if (!limitsBroken(eviction.pod, stats, imageFs).some((kind) => message.includes(kind)))
            say(`${uid} is evicted, and keeps its limits: ${message}`);
        }
        if (fact.f !== 'usage' || told?.pods == null) return;
        const { now } = world.time;
        const before = over;
        over = new Map();
        for (const stats of told.pods) {
          const { uid } = stats.podRef;
          const pod = book.pods.get(uid);
          if (pod?.state.startsWith('syncing') !== true || isCriticalPod(pod.context.pod)) continue;
          const broken = limitsBroken(pod.context.pod, stats, imageFs);
          if (broken.length === 0) continue;
          const { since, looks } = before.get(uid) ?? { since: now, looks: 0 };
          over.set(uid, { since, looks: looks + 1 });
          if (looks < LOOKS || now - since < PATIENCE_MS) continue;
          if (!world.faults.calmSince(since - HUNG_MS) || book.lastBreak > since) continue;
          say(`${uid} is over its limit for ${now - since} ms, and stays: ${broken.join('; ')}`);
        }
      },
    };
  },
};

/** Words of the limits that a pod breaks by its stats. */
function limitsBroken(pod: Pod, stats: PodStats | undefined, imageFs: boolean): string[] {
  if (stats === undefined) return [];
  const broken: string[] = [];
  for (const { name, emptyDir } of pod.spec?.volumes ?? []) {
    const limit = mebibytes(emptyDir?.sizeLimit);
    const used = stats.volume?.find((volume) => volume.name === name)?.usedBytes ?? 0;
    if (limit !== null && used > limit) broken.push('EmptyDir volume');
  }
  const limits = (pod.spec?.containers ?? []).flatMap(({ name, resources }) => {
    const limit = mebibytes(resources?.limits?.['ephemeral-storage']);
    return limit === null ? [] : { name, limit };
  });
  const whole = limits.reduce((sum, { limit }) => sum + limit, 0);
  if (limits.length > 0 && (stats['ephemeral-storage']?.usedBytes ?? 0) > whole)
    broken.push('Pod ephemeral local storage');
  for (const { name, limit } of limits) {
    const own = stats.containers.find((each) => each.name === name);
    const used = (own?.logs?.usedBytes ?? 0) + (imageFs ? 0 : (own?.rootfs?.usedBytes ?? 0));
    if (used > limit) broken.push(`Container ${name} exceeded`);
  }
  return broken;
}

/** Drawn limits are whole MiB. */
function mebibytes(quantity: string | undefined): number | null {
  return quantity === undefined ? null : Number(quantity.replace('Mi', '')) * 2 ** 20;
}
