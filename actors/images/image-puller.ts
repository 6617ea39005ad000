import type { Logger } from 'pino';
import type { CriClient } from '../../cri/client/cri-client.ts';
import type { EffectCatalog } from '../../machines/protocol/effects.ts';
import type { Metrics } from '../metrics/metrics-registry.ts';
import { imageSizeLabel } from '../metrics/kubelet-metrics.ts';
import { TokenBucket } from './token-bucket.ts';

type PullParams = EffectCatalog['image.Pull']['params'];
type PullResult = EffectCatalog['image.Pull']['result'];

/** How the node pulls (`serializeImagePulls`, `maxParallelImagePulls`, `registryPullQPS`, `registryBurst`). */
export interface ImagePullerOptions {
  cri: CriClient;
  serialize: boolean;
  /** Bound when pulls are parallel; null = none. */
  maxParallel: number | null;
  /** Pulls per second; 0 = no limit. */
  qps: number;
  burst: number;
  metrics: Metrics;
  log: Logger;
}

/** The one queue through which all pods of the node pull their images. */
export class ImagePuller {
  private readonly options: ImagePullerOptions;
  private readonly bucket: TokenBucket | null;
  private readonly waiting: (() => void)[] = [];
  private active = 0;

  constructor(options: ImagePullerOptions) {
    this.options = options;
    this.bucket = options.qps > 0 ? new TokenBucket(options.qps, options.burst) : null;
  }

  /** Pulls an image and looks at it; waits for its turn first. Rejects with a CriError. */
  async pull({ image, runtimeHandler, sandboxConfig }: PullParams): Promise<PullResult> {
    const { cri, metrics } = this.options;
    const asked = performance.now();
    if (this.bucket !== null && !this.bucket.take()) {
      throw Object.assign(new Error('pull QPS exceeded'), { code: 'QPS' });
    }
    await this.turn();
    try {
      const began = performance.now();
      await cri.image.pullImage({ image: { image, runtimeHandler }, ...(sandboxConfig !== null && { sandboxConfig }) });
      const { image: found } = await cri.image.imageStatus({ image: { image, runtimeHandler } });
      if (found === undefined)
        throw Object.assign(new Error(`image "${image}" is not there after its pull`), { code: 'NotFound' });
      const ended = performance.now();
      const sizeBytes = Number(found.size);
      metrics.imagePullDuration.observe({ image_size_in_bytes: imageSizeLabel(sizeBytes) }, (ended - asked) / 1000);
      return {
        imageRef: found.id,
        uid: found.uid === undefined ? null : Number(found.uid.value),
        username: found.username,
        ms: Math.round(ended - began),
        waitedMs: Math.round(ended - asked),
        sizeBytes,
      };
    } finally {
      this.active--;
      this.waiting.shift()?.();
    }
  }

  private async turn(): Promise<void> {
    const limit = this.options.serialize ? 1 : (this.options.maxParallel ?? Infinity);
    while (this.active >= limit) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.active++;
  }
}
