import type { CriClient } from '../../../cri/client/cri-client.ts';
import { isCriError } from '../../../cri/client/cri-error.ts';
import type { Image, ImageSpec } from '../../../cri/generated/runtime/v1/api.ts';
import type { ListedImage } from '../../../machines/images/image-gc-context.ts';
import { imageKey } from '../../../machines/images/image-gc-context.ts';
import { LABEL } from '../../../machines/protocol/runtime-labels.ts';

/** What the runtime has of images, and which of them containers use. */
export interface ImagesSeen {
  images: ListedImage[];
  /** Keys and ids. */
  inUse: string[];
}

/**
 * Lists all images, and those that a container, ended ones too, was made of or has mounted as a volume (kubelet detectImages).
 * @param byHandler whether the runtime handler of an image counts (feature gate RuntimeClassInImageCriApi)
 * @param mayMount whether a pod may have a volume that is an image: only of its containers the mounts are asked for
 */
export async function imagesInUse(
  cri: Pick<CriClient, 'runtime' | 'image'>,
  mayMount: (podUid: string) => boolean,
  byHandler: boolean,
): Promise<ImagesSeen> {
  const handlerOf = (spec: ImageSpec | undefined) => (byHandler ? (spec?.runtimeHandler ?? '') : '');
  const { images } = await cri.image.listImages({});
  const { containers } = await cri.runtime.listContainers({});
  const inUse = new Set<string>(await sandboxImages(cri, images));
  for (const { imageId, imageRef, image, id, labels } of containers) {
    // Runtimes from before Kubernetes 1.31 tell no imageId.
    inUse.add(imageKey({ id: imageId === '' ? imageRef : imageId, handler: handlerOf(image) }));
    if (!mayMount(labels[LABEL.podUid] ?? '')) continue;
    for (const mounted of await mountedImages(cri, id)) inUse.add(mounted);
  }
  return {
    images: images.map(({ id, spec, size, pinned }) => ({
      ...{ id, handler: handlerOf(spec), bytes: Number(size), pinned },
    })),
    inUse: [...inUse],
  };
}

/**
 * The image of sandboxes, of a runtime that does not pin it (containerd before 1.7.3): sandboxes are no containers, and a node
 * without a way to the registry would be lost. Kubelet had --pod-infra-container-image for that until 1.34.
 */
async function sandboxImages({ runtime }: Pick<CriClient, 'runtime'>, images: readonly Image[]): Promise<string[]> {
  if (images.some(({ pinned }) => pinned)) return [];
  const { info } = await runtime.status({ verbose: true });
  const name = sandboxImageOf(info['config'] ?? '');
  return images
    .filter(({ id, repoTags, repoDigests }) => [id, ...repoTags, ...repoDigests].includes(name))
    .map(({ id }) => id);
}

/** containerd's own configuration, as its verbose status has it; '' for other runtimes. */
function sandboxImageOf(config: string): string {
  try {
    const { sandboxImage } = JSON.parse(config) as { sandboxImage?: unknown };
    return typeof sandboxImage === 'string' ? sandboxImage : '';
  } catch {
    return '';
  }
}

async function mountedImages({ runtime }: Pick<CriClient, 'runtime'>, containerId: string): Promise<string[]> {
  try {
    const { status } = await runtime.containerStatus({ containerId, verbose: false });
    return (status?.mounts ?? []).flatMap(({ image }) =>
      image === undefined || image.image === '' ? [] : image.image,
    );
  } catch (error) {
    // It has been removed since the list: it uses nothing.
    if (isCriError(error, 'NotFound')) return [];
    throw error;
  }
}
