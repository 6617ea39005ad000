import type { EffectCatalog } from '../../../machines/protocol/effects.ts';
import type { AskCatalog } from '../../../machines/protocol/ask.ts';

type ImageStatus = EffectCatalog['image.Status']['result'];

/** Asks the node's puller; see {@link AskCatalog} `image.MayUse`. */
export type MayUseImage = (
  params: AskCatalog['image.MayUse']['params'],
) => Promise<AskCatalog['image.MayUse']['result']>;

/** What a pod is told of an image: one that it may not use is not there for it (KEP-2535). */
export async function usableImage(
  found: ImageStatus,
  who: { podUid: string; image: string },
  mayUse: MayUseImage,
): Promise<ImageStatus> {
  if (found.present === null) {
    // Nobody waits for that: a pod that may not pull the image hears of pull secrets that it lacks all the same.
    void mayUse({ ...who, imageRef: null }).catch(() => undefined);
    return found;
  }
  const { allowed, unchecked } = await mayUse({ ...who, imageRef: found.present.imageRef });
  if (!allowed) return { present: null };
  return unchecked === true ? { ...found, unchecked } : found;
}
