import type { Logger } from 'pino';
import type { CriClient } from '../../cri/client/cri-client.ts';
import { CriError } from '../../cri/client/cri-error.ts';
import type { AuthConfig } from '../../cri/generated/runtime/v1/api.ts';
import { aggregate } from '../../machines/aggregate.ts';
import type { ImagePullCredentials } from '../../machines/images/pull-record.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { EffectCatalog } from '../../machines/protocol/effects.ts';
import type { Metrics } from '../metrics/metrics-registry.ts';
import { imageSizeLabel } from '../metrics/kubelet-metrics.ts';
import { imagePresent } from './image-present.ts';
import { pullingPod } from './plugin-token.ts';
import { findLoginAccount, findPullLogins, findSecretLogins } from './pull-logins.ts';
import type { LoginSources, TrackedLogin } from './pull-logins.ts';
import type { PullRecords } from './pull-records.ts';
import { requestedImage } from './requested-image.ts';
import { secretOf } from './secret-hash.ts';
import { TokenBucket } from '../flow-control/token-bucket.ts';
import type { AskCatalog } from '../shard/ask.ts';

type PullParams = EffectCatalog['image.Pull']['params'];
type PullResult = EffectCatalog['image.Pull']['result'];
type MayUse = AskCatalog['image.MayUse'];

/** How the node pulls (`serializeImagePulls`, `maxParallelImagePulls`, `registryPullQPS`, `registryBurst`). */
export interface ImagePullerOptions extends LoginSources {
  cri: CriClient;
  serialize: boolean;
  /** Bound when pulls are parallel; null = none. */
  maxParallel: number | null;
  /** Pulls per second; 0 = no limit. */
  qps: number;
  burst: number;
  /** Null: pods may use every image of the node (gate KubeletEnsureSecretPulledImages off). */
  records: PullRecords | null;
  /** A pod of the node, for its images as it spells them and for its pull secrets. */
  podOf?: (uid: string) => Pod | undefined;
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
  /** What ends the pulls of each pod. */
  private readonly ends = new Map<string, Set<AbortController>>();

  constructor(options: ImagePullerOptions) {
    this.options = options;
    this.bucket = options.qps > 0 ? new TokenBucket(options.qps, options.burst) : null;
  }

  /**
   * Pulls an image for a pod and looks at it; waits for its turn first. With several logins for its registry, one
   * after the other is tried until one is let in. Rejects with an Error that has a `code`.
   */
  async pull(params: PullParams, podUid = ''): Promise<PullResult> {
    const end = new AbortController();
    const ends = this.ends.get(podUid) ?? new Set();
    this.ends.set(podUid, ends.add(end));
    try {
      return await this.recorded(params, podUid, end.signal);
    } finally {
      ends.delete(end);
      if (ends.size === 0 && this.ends.get(podUid) === ends) this.ends.delete(podUid);
    }
  }

  /** Ends the pulls of a pod that is gone, so that they hold up no other. */
  podGone(podUid: string): void {
    for (const end of this.ends.get(podUid) ?? []) end.abort();
  }

  private async recorded(params: PullParams, podUid: string, signal: AbortSignal): Promise<PullResult> {
    const { records, podOf } = this.options;
    if (records === null) return (await this.queued(params, podUid, signal)).result;
    const image = requestedImage(podOf?.(podUid), params.image);
    await records.ready;
    records.began(image);
    try {
      const { result, login } = await this.queued(params, podUid, signal);
      records.pulled(image, result.imageRef, credentialsOf(login));
      return result;
    } catch (error) {
      records.failed(image);
      throw error;
    }
  }

  /** May a pod use an image that is on the node already? Never rejects. */
  async mayUse({ podUid, image, imageRef }: MayUse['params']): Promise<MayUse['result']> {
    const { records, podOf } = this.options;
    if (records === null) return { allowed: true, unchecked: true };
    await records.ready;
    const pod = podOf?.(podUid);
    const secrets = async () => {
      const names = (pod?.spec?.imagePullSecrets ?? []).map(({ name = '' }) => name);
      const { logins } = await findSecretLogins(image, pod?.metadata?.namespace ?? 'default', names, this.options);
      return logins.flatMap(secretOf);
    };
    const account = () => findLoginAccount(image, pullingPod(pod), this.options);
    return { allowed: !(await records.mustPull(requestedImage(pod, image), imageRef, secrets, account)) };
  }

  /** Looks for logins, waits for the pull's turn and pulls; `login` is the one that was let in. */
  private async queued(
    params: PullParams,
    podUid: string,
    signal: AbortSignal,
  ): Promise<{ result: PullResult; login: TrackedLogin | null }> {
    const { cri, metrics, podOf, onMissingSecrets } = this.options;
    const { image, runtimeHandler, namespace, pullSecrets } = params;
    const asked = performance.now();
    const { logins, missing } = await findPullLogins(
      image,
      namespace,
      pullSecrets,
      this.options,
      pullingPod(podOf?.(podUid)),
    );
    if (missing.length > 0) {
      const names = missing.join(', ');
      onMissingSecrets?.(
        podUid,
        `Unable to retrieve some image pull secrets (${names}); attempting to pull the image may not succeed.`,
      );
    }
    await this.turn();
    try {
      if (signal.aborted) throw Object.assign(new Error('context canceled'), { code: 'Canceled' });
      this.countPull();
      const began = performance.now();
      const login = await this.pullWith(logins, params, signal);
      const { image: found } = await cri.image.imageStatus({ image: { image, runtimeHandler } });
      if (found === undefined)
        throw Object.assign(new Error(`image "${image}" is not there after its pull`), { code: 'NotFound' });
      const ended = performance.now();
      const sizeBytes = Number(found.size);
      metrics.imagePullDuration.observe({ image_size_in_bytes: imageSizeLabel(sizeBytes) }, (ended - asked) / 1000);
      const result = {
        ...imagePresent(found),
        ms: Math.round(ended - began),
        waitedMs: Math.round(ended - asked),
        sizeBytes,
      };
      return { result, login };
    } finally {
      this.active--;
      this.waiting.shift()?.();
    }
  }

  private async pullWith(
    logins: readonly TrackedLogin[],
    { image, runtimeHandler, sandboxConfig }: PullParams,
    signal: AbortSignal,
  ): Promise<TrackedLogin | null> {
    const request = { image: { image, runtimeHandler }, ...(sandboxConfig !== null && { sandboxConfig }) };
    const failures: Error[] = [];
    for (const login of logins.length === 0 ? [null] : logins) {
      try {
        const auth = login === null ? {} : { auth: authOf(login) };
        await this.options.cri.image.pullImage({ ...request, ...auth }, { signal });
        return login;
      } catch (error) {
        if (signal.aborted) throw error;
        failures.push(readable(error));
      }
    }
    const [first] = failures;
    if (failures.length === 1 && first !== undefined) throw first;
    // The texts are whole, as events show them: a code of gRPC would be put before them once more.
    throw Object.assign(new Error(aggregate(failures.map(({ message }) => message))), { code: 'EUNKNOWN' });
  }

  /** A pull counts when its turn has come, once for all its logins. */
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

/** What the records keep of a pull: a login of the node, or none, makes the image free for all its pods. */
function credentialsOf(login: TrackedLogin | null): ImagePullCredentials {
  if (login?.serviceAccount !== undefined) return { kubernetesServiceAccounts: [login.serviceAccount] };
  const secrets = login === null ? [] : secretOf(login);
  return secrets.length === 0 ? { nodePodsAccessible: true } : { kubernetesSecrets: secrets };
}

function authOf({ username, password }: TrackedLogin): AuthConfig {
  return { username, password, auth: '', serverAddress: '', identityToken: '', registryToken: '' };
}

/** Code `Unknown` says nothing: then the runtime's words stand alone, and known beginnings of them can be told. */
function readable(error: unknown): Error {
  if (error instanceof CriError && error.code === 'Unknown')
    return Object.assign(new Error(error.details, { cause: error }), { code: 'EUNKNOWN' });
  return error instanceof Error ? error : new Error(String(error));
}
