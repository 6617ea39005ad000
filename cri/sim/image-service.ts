import { dirname } from 'node:path';
import type { Image } from '../generated/runtime/v1/api.ts';
import type { CallContext } from './call-context.ts';
import type { ImageHandlers } from './handlers.ts';
import { KeyedCounts } from './keyed-counts.ts';
import { drawBetween } from './prng.ts';
import type { ImageRecord } from './records.ts';
import { invalid, scripted } from './rpc-error.ts';
import type { SimCore } from './sim-core.ts';
import { imageUid, verboseOnly } from './status-shapes.ts';

/** Bytes of a container's writable layer. */
const LAYER_BYTES = 4096;

/** ImageService. */
export function imageHandlers(core: SimCore): ImageHandlers {
  const pulls = new KeyedCounts();
  return {
    listImages: ({ filter }) => {
      const wanted = filter?.image?.image ?? '';
      if (wanted === '') return { images: Array.from(core.images.byId.values(), toImage) };
      const found = core.images.find(wanted);
      return { images: found === undefined ? [] : [toImage(found)] };
    },
    imageStatus: ({ image, verbose }) => {
      const found = core.images.find(named(image));
      if (found === undefined) return { image: undefined, info: {} };
      return {
        image: toImage(found),
        info: verboseOnly(verbose, 'info', () => ({ imageSpec: { config: { User: found.user } } })),
      };
    },
    pullImage: async ({ image }, call) => ({ imageRef: await pull(core, pulls, named(image), call) }),
    removeImage: ({ image }) => {
      core.images.remove(named(image));
      return {};
    },
    imageFsInfo: () => {
      const { mountpoint, inodesUsed } = core.plan.runtime.imageFilesystem;
      const usage = (path: string, bytes: number, inodes: number) => ({
        timestamp: core.clock.now(),
        fsId: { mountpoint: path },
        usedBytes: { value: String(bytes) },
        inodesUsed: { value: String(inodes) },
      });
      const layers = core.containers.byId.size;
      return {
        imageFilesystems: [usage(mountpoint, core.images.usedBytes, inodesUsed)],
        containerFilesystems: [usage(`${dirname(mountpoint)}/containers`, layers * LAYER_BYTES, layers)],
      };
    },
  };
}

/** Takes as long, and fails as often, as the image's rule says. The answer is the image's id, as containerd's is. */
async function pull(core: SimCore, pulls: KeyedCounts, name: string, call: CallContext): Promise<string> {
  const rule = core.images.rule(name)?.pull;
  const count = rule === undefined ? 0 : pulls.next(name);
  if (rule?.takes !== undefined) call.setWork(drawBetween(rule.takes, core.seed, 'pull', name, count));
  await call.work();
  if (rule?.fail !== undefined && (rule.times === undefined || count < rule.times)) throw scripted(rule.fail);
  return core.images.add(name).id;
}

function named(image: { image: string } | undefined): string {
  if (image === undefined || image.image === '') throw invalid('image reference is empty');
  return image.image;
}

function toImage(record: ImageRecord): Image {
  const uid = imageUid(record);
  return {
    id: record.id,
    repoTags: record.repoTags,
    repoDigests: record.repoDigests,
    size: String(record.sizeBytes),
    uid: uid === null ? undefined : { value: uid },
    username: uid === null ? (record.user.split(':')[0] ?? '') : '',
    spec: undefined,
    pinned: record.pinned,
  };
}
