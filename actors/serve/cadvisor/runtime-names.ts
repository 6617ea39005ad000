import { ContainerState, PodSandboxState } from '../../../cri/generated/runtime/v1/api.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { LABEL } from '../../../machines/protocol/runtime-labels.ts';

/** What the runtime tells of a container or sandbox by its id. */
export interface RuntimeName {
  container: string;
  pod: string;
  namespace: string;
  image: string;
  sandbox: boolean;
}

/** Names of all that runs. */
export interface RuntimeNames {
  /** Asks the runtime. Rejects with CriError. */
  read(): Promise<ReadonlyMap<string, RuntimeName>>;
}

const RUNNING = { state: { state: ContainerState.CONTAINER_RUNNING } };
const READY = { state: { state: PodSandboxState.SANDBOX_READY } };

/**
 * Asks for running containers and ready sandboxes. Of images it keeps the names between scrapes: it lists them only when a
 * container has one that it does not know. The image of sandboxes is that of the runtime's configuration and in no list;
 * it is asked of one of them, and again only by a new agent.
 */
export function createRuntimeNames(cri: CriClient): RuntimeNames {
  let images = new Map<string, string>();
  let pause: string | undefined;

  const readImages = async (): Promise<Map<string, string>> => {
    const { images: all } = await cri.image.listImages({});
    return new Map(all.map(({ id, repoTags, repoDigests }) => [id, repoTags[0] ?? repoDigests[0] ?? id]));
  };

  const pauseImage = async (sandboxId: string): Promise<string> => {
    const { info } = await cri.runtime.podSandboxStatus({ podSandboxId: sandboxId, verbose: true });
    return imageOfInfo(info['info'] ?? '');
  };

  return {
    read: async () => {
      const [{ containers }, { items }] = await Promise.all([
        cri.runtime.listContainers({ filter: RUNNING }),
        cri.runtime.listPodSandbox({ filter: READY }),
      ]);
      if (containers.some(({ imageRef }) => !images.has(imageRef))) images = await readImages();
      const first = items[0];
      // it may be gone by now: the next scrape asks another one
      if (pause === undefined && first !== undefined) pause = await pauseImage(first.id).catch(() => undefined);
      const names = new Map<string, RuntimeName>();
      for (const { id, labels } of items) {
        const pod = { pod: labels[LABEL.podName] ?? '', namespace: labels[LABEL.podNamespace] ?? '' };
        names.set(id, { container: '', ...pod, image: pause ?? '', sandbox: true });
      }
      for (const { id, labels, imageRef, image } of containers) {
        names.set(id, {
          container: labels[LABEL.containerName] ?? '',
          pod: labels[LABEL.podName] ?? '',
          namespace: labels[LABEL.podNamespace] ?? '',
          image: images.get(imageRef) ?? image?.image ?? '',
          sandbox: false,
        });
      }
      return names;
    },
  };
}

/** `image` of the JSON that containerd tells of a sandbox when asked for everything; '' from other runtimes. */
function imageOfInfo(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && 'image' in value && typeof value.image === 'string') {
      return value.image;
    }
  } catch {
    // not JSON
  }
  return '';
}
