import type { Rule } from './rule.ts';

/** A container that is as old as that was there when the collector listed what is in use, ms. */
const OLD_MS = 120_000;

/** The image of a container, ended ones included, is not removed under it. */
export const imagesInUseStay: Rule = {
  name: 'images in use stay',
  source:
    'kubelet image_gc_manager.go, detectImages: images of containers are in use, of those that have ended as well',
  begin: ({ world, say }) => {
    const made = new Map<string, { image: string; at: number; name: string }>();
    return {
      on: (fact) => {
        if (fact.f === 'container') {
          const { id, image, metadata } = fact.record;
          if (fact.change === 'removed') made.delete(id);
          else if (fact.change === 'created')
            made.set(id, { image: image.id, at: world.time.now, name: metadata.name });
        }
        if (fact.f !== 'call' || fact.rpc !== 'RemoveImage') return;
        const removed = (fact.request as { image?: { image: string } }).image?.image;
        for (const { image, at, name } of made.values())
          if (image === removed && world.time.now - at > OLD_MS)
            say(`${removed} goes, of which container ${name} was made`);
      },
    };
  },
};
