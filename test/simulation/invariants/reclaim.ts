import { evictionOf } from './eviction.ts';
import type { Rule } from './rule.ts';
import { shortages } from './shortages.ts';

/** An image that the collector has known for so long is old enough to go, ms: `imageMinimumGCAge`, and what a pass takes. */
const OLD_MS = 140_000;
/** Calls that fail or hang leave images. */
const HUNG_MS = 200_000;

/** What nobody needs goes before a pod does. */
export const unusedImagesGoFirst: Rule = {
  name: 'no pod goes for a disk on which images lie that nobody uses',
  source: 'kubelet buildSignalToNodeReclaimFuncs: containerGC.DeleteAllUnusedContainers, imageGC.DeleteUnusedImages',
  begin: ({ world, book, say }) => {
    /** When the collector first saw each image, and when it last may have been in use. */
    let seen = new Map<string, number>();
    /** What was listed last. Others list images, too, of whom the collector does not hear; it asks for the disk after it has. */
    let listed: string[] = [];
    const used = new Map<string, number>();
    return {
      on: (fact) => {
        const { now } = world.time;
        if (fact.f === 'agent') seen = new Map();
        if (fact.f === 'container') used.set(fact.record.image.id, now);
        const { images, containers } = world.runtime.core;
        if (fact.f === 'call' && fact.rpc === 'ListImages') listed = [...images.byId.keys()];
        if (fact.f === 'call' && fact.rpc === 'ImageFsInfo')
          seen = new Map(listed.map((id) => [id, seen.get(id) ?? now]));
        const eviction = evictionOf(fact);
        const told = world.usage.told.at(-2);
        const { disks = 'one' } = world.plan.node;
        if (eviction === null || told === undefined) return;
        if (eviction.resource !== 'ephemeral-storage' && eviction.resource !== 'inodes') return;
        const short = shortages(told.node, world.plan.node.disks, 'reclaim').filter(
          ({ resource }) => resource === eviction.resource,
        );
        const helps = short.every(
          ({ fs }) => disks === 'one' || (disks === 'split' ? fs === 'imagefs' : fs !== 'nodefs'),
        );
        if (!helps || !world.faults.calmSince(now - HUNG_MS) || now - book.lastBreak < HUNG_MS) return;
        const inUse = new Set([...containers.byId.values()].map(({ image }) => image.id));
        const unused = [...images.byId.values()].filter(
          ({ id, pinned }) =>
            !pinned && !inUse.has(id) && now - (seen.get(id) ?? now) > OLD_MS && now - (used.get(id) ?? 0) > OLD_MS,
        );
        if (unused.length > 0)
          say(
            `${eviction.uid} goes for ${eviction.resource}, and ${unused.map(({ repoTags }) => repoTags[0]).join()} stay`,
          );
      },
    };
  },
};
