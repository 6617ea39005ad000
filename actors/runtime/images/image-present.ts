import type { Image } from '../../../cri/generated/runtime/v1/api.ts';
import type { ImagePresent } from '../../../machines/protocol/effects.ts';

/** An image of the runtime as the machines see it. */
export function imagePresent({ id, uid, username, repoTags, repoDigests }: Image): ImagePresent {
  const [repoTag] = repoTags;
  const [repoDigest] = repoDigests;
  return {
    imageRef: id,
    uid: uid === undefined ? null : Number(uid.value),
    username,
    ...(repoTag !== undefined && { repoTag }),
    ...(repoDigest !== undefined && { repoDigest }),
  };
}
