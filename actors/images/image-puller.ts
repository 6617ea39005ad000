import type { Logger } from 'pino';
import type { CriClient } from '../../cri/client/cri-client.ts';
import { CriError } from '../../cri/client/cri-error.ts';
import type { AuthConfig } from '../../cri/generated/runtime/v1/api.ts';
import type { DockerLogin } from '../../machines/images/docker-config.ts';
import { aggregate } from '../../machines/aggregate.ts';
import type { EffectCatalog } from '../../machines/protocol/effects.ts';
import type { Metrics } from '../metrics/metrics-registry.ts';
import { imageSizeLabel } from '../metrics/kubelet-metrics.ts';
import { findPullLogins } from './pull-logins.ts';
import type { LoginSources } from './pull-logins.ts';
import { TokenBucket } from '../flow-control/token-bucket.ts';

type PullParams = EffectCatalog['image.Pull']['params'];
type PullResult = EffectCatalog['image.Pull']['result'];

/** How the node pulls (`serializeImagePulls`, `maxParallelImagePulls`, `registryPullQPS`, `registryBurst`). */
export interface ImagePullerOptions extends LoginSources {
  cri: CriClient;
  serialize: boolean;
  /** Bound when pulls are parallel; null = none. */
  maxParallel: number | null;
  /** Pulls per second; 0 = no limit. */
  qps: number;
  burst: number;
  metrics: Metrics;
  log: Logger;
  /** Pull secrets could not be had; to be told as a Warning event with reason {@link MISSING_PULL_SECRET}. */
  onMissingSecrets?: (podUid: string, message: string) => void;
}

/** Reason of the event about pull secrets that could not be had. */
export const MISSING_PULL_SECRET = 'FailedToRetrieveImagePullSecret';

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

  /**
   * Pulls an image for a pod and looks at it; waits for its turn first. With several logins for its registry, one
   * after the other is tried until one is let in. Rejects with an Error that has a `code`.
   */
  async pull(params: PullParams, podUid = ''): Promise<PullResult> {
    const { cri, metrics, onMissingSecrets } = this.options;
    const { image, runtimeHandler, namespace, pullSecrets } = params;
    const asked = performance.now();
    this.countPull();
    const { logins, missing } = await findPullLogins(image, namespace, pullSecrets, this.options);
    if (missing.length > 0) {
      const names = missing.join(', ');
      onMissingSecrets?.(
        podUid,
        `Unable to retrieve some image pull secrets (${names}); attempting to pull the image may not succeed.`,
      );
    }
    await this.turn();
    try {
      const began = performance.now();
      await this.pullWith(logins, params);
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

  private async pullWith(logins: readonly DockerLogin[], { image, runtimeHandler, sandboxConfig }: PullParams) {
    const request = { image: { image, runtimeHandler }, ...(sandboxConfig !== null && { sandboxConfig }) };
    const failures: Error[] = [];
    for (const login of logins.length === 0 ? [null] : logins) {
      try {
        if (failures.length > 0) this.countPull();
        await this.options.cri.image.pullImage({ ...request, ...(login !== null && { auth: authOf(login) }) });
        return;
      } catch (error) {
        failures.push(readable(error));
      }
    }
    const [first] = failures;
    if (failures.length === 1 && first !== undefined) throw first;
    // The texts are whole, as events show them: a code of gRPC would be put before them once more.
    throw Object.assign(new Error(aggregate(failures.map(({ message }) => message))), { code: 'EUNKNOWN' });
  }

  /** Each attempt counts, as in kubelet. */
  private countPull(): void {
    if (this.bucket !== null && !this.bucket.tryTake())
      throw Object.assign(new Error('pull QPS exceeded'), { code: 'QPS' });
  }

  private async turn(): Promise<void> {
    const limit = this.options.serialize ? 1 : (this.options.maxParallel ?? Infinity);
    while (this.active >= limit) await new Promise<void>((resolve) => this.waiting.push(resolve));
    this.active++;
  }
}

function authOf({ username, password }: DockerLogin): AuthConfig {
  return { username, password, auth: '', serverAddress: '', identityToken: '', registryToken: '' };
}

/** Code `Unknown` says nothing: then the runtime's words stand alone, and known beginnings of them can be told. */
function readable(error: unknown): Error {
  if (error instanceof CriError && error.code === 'Unknown')
    return Object.assign(new Error(error.details, { cause: error }), { code: 'EUNKNOWN' });
  return error instanceof Error ? error : new Error(String(error));
}
