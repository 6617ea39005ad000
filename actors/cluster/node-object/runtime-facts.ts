import type { Logger } from 'pino';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import type { RuntimeFacts } from '../../../machines/node-object/node-types.ts';

/** Time between two listings of images, ms (kubelet's image cache). */
const IMAGES_EVERY_MS = 30_000;
const TIMEOUT_MS = 2_000;

/** Calls of the runtime that the node object needs. */
export type NodeCri = Pick<CriClient, 'runtime' | 'image'>;

/** Keeps what the runtime says of itself and of its images; the last answers stay while it is down. */
export class RuntimeFactsReader {
  private readonly cri: NodeCri;
  private readonly log: Logger;
  private imagesAt = Number.NEGATIVE_INFINITY;
  facts: RuntimeFacts;

  constructor(cri: NodeCri, log: Logger, runtimeName: string) {
    this.cri = cri;
    this.log = log;
    this.facts = { name: runtimeName, version: '', handlers: null, supplementalGroupsPolicy: null, images: [] };
  }

  /** Version, handlers and features; false when the runtime did not answer. */
  async readRuntime(): Promise<boolean> {
    try {
      const call = { timeoutMs: TIMEOUT_MS, retryMs: 0 };
      const [version, status] = await Promise.all([
        this.cri.runtime.version({ version: 'v1' }, call),
        this.cri.runtime.status({}, call),
      ]);
      this.facts = {
        ...this.facts,
        name: version.runtimeName,
        version: version.runtimeVersion,
        handlers: status.runtimeHandlers.map((h) => ({
          name: h.name,
          recursiveReadOnlyMounts: h.features?.recursiveReadOnlyMounts ?? false,
          userNamespaces: h.features?.userNamespaces ?? false,
        })),
        supplementalGroupsPolicy: status.features?.supplementalGroupsPolicy ?? null,
      };
      return true;
    } catch (error) {
      this.log.debug({ err: error }, 'Runtime did not tell its version');
      return false;
    }
  }

  /** Lists the images when the last listing is too old (`at`: ms of a clock that nobody can set). */
  async readImages(at: number): Promise<void> {
    if (at - this.imagesAt < IMAGES_EVERY_MS) return;
    this.imagesAt = at;
    try {
      const { images } = await this.cri.image.listImages({}, { timeoutMs: TIMEOUT_MS, retryMs: 0 });
      const listed = images.map(({ id, repoTags, repoDigests, size }) => ({
        id,
        repoTags,
        repoDigests,
        sizeBytes: Number(size),
      }));
      this.facts = { ...this.facts, images: listed };
    } catch (error) {
      this.log.debug({ err: error }, 'Runtime did not list its images');
    }
  }
}
