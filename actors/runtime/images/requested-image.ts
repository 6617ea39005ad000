import { withDefaultTag } from '../../../machines/container/image-name.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';

/** An image as the pod spells it (without `:latest` where the pod leaves it out): records of pulls go by that name. */
export function requestedImage(pod: Pod | undefined, image: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [], volumes = [] } = pod?.spec ?? {};
  const spelled = [
    ...[...containers, ...initContainers, ...ephemeralContainers].map((container) => container.image),
    ...volumes.map((volume) => volume.image?.reference),
  ].filter((each) => each !== undefined);
  if (spelled.includes(image)) return image;
  return spelled.find((each) => isImage(each, image)) ?? image;
}

/** Is there something in the pod that wants this image and may not pull it (`imagePullPolicy: Never`)? */
export function isNeverPulled(pod: Pod | undefined, image: string): boolean {
  const { containers = [], initContainers = [], ephemeralContainers = [], volumes = [] } = pod?.spec ?? {};
  const wants = [
    ...[...containers, ...initContainers, ...ephemeralContainers].map((each) => [each.image, each.imagePullPolicy]),
    ...volumes.map((volume) => [volume.image?.reference, volume.image?.pullPolicy]),
  ];
  return wants.some(
    ([spelled, policy]) =>
      policy === 'Never' && spelled !== undefined && (spelled === image || isImage(spelled, image)),
  );
}

function isImage(spelled: string, image: string): boolean {
  const named = withDefaultTag(spelled);
  return 'image' in named && named.image === image;
}
