import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { PullPlace } from '../../../machines/protocol/pull-place.ts';
import type { ImagePullCredentials, ImagePullSecret } from '../../../machines/images/pull-record.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { EffectCatalog } from '../../../machines/protocol/effects.ts';
import type { JournalSettings } from '../../record/journal/machine-journal.ts';
import type { AskCatalog } from '../../../machines/protocol/ask.ts';
import { loginText } from '../../../machines/images/pull-record.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import type { Metrics } from '../../record/metrics/metrics-registry.ts';
import { imageSizeLabel } from '../../record/metrics/kubelet-metrics.ts';
import { imagePresent } from './image-present.ts';
import { pullingPod } from './plugin-token.ts';
import { findLoginAccount, findPullLogins, findSecretLogins, missingSecrets } from './pull-logins.ts';
import type { LoginSources, TrackedLogin } from './pull-logins.ts';
import type { PullRecords } from './pull-records.ts';
import { canceled, PullAttempts } from './pull-attempts.ts';
import type { Attempt, Pulled } from './pull-attempts.ts';
import { isNeverPulled, requestedImage } from './requested-image.ts';
import { SharedPulls } from './shared-pulls.ts';

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
  /** ms since the epoch; the clock unless given. */
  now?: () => number;
  /** A clock that nobody can set, ms; the machine's unless given. */
  steady?: () => number;
  /** Where the queue's messages are journaled; absent with `--no-journal`. */
  journal?: JournalSettings;
  /** Pull secrets could not be had; to be told as a Warning event with reason {@link MISSING_PULL_SECRET}. */
  onMissingSecrets?: (podUid: string, message: string) => void;
}

/** Reason of the event about pull secrets that could not be had. */
export const MISSING_PULL_SECRET = 'FailedToRetrieveImagePullSecret';

/** An ask that another one of the same container (or volume) and key has taken the place of: nobody waits for its outcome. */
export const SUPERSEDED = 'Superseded';

/** Who asks beside the pod, and what he wants to hear. */
export interface PullAsk {
  /** The effect's key. The same container (or volume) asks again under a key that differs in its last part. */
  key?: string;
  /** Where it stands in the queue when it has to wait, and null when its pull then begins. */
  onTurn?: (place: PullPlace | null) => void;
}

interface Asking extends Attempt {
  podUid: string;
  key: string;
  /** It waits no more: for what reason. */
  left: Error | null;
}

/** The one queue through which all pods of the node pull their images. */
export class ImagePuller {
  private readonly options: ImagePullerOptions;
  private readonly attempts: PullAttempts;
  private readonly pulls: SharedPulls<Pulled>;
  /** All who ask, by id. */
  private readonly asking = new Map<string, Asking>();
  private asked = 0;

  constructor(options: ImagePullerOptions) {
    this.options = options;
    this.attempts = new PullAttempts(options);
    const { now = Date.now, journal, log } = options;
    const limit = options.serialize ? 1 : options.maxParallel;
    this.pulls = new SharedPulls({ limit, now, log, ...(journal && { journal }) }, ({ right, askers }, signal) =>
      this.attempts.carryOut(
        right,
        askers.flatMap((asker) => this.asking.get(asker) ?? []),
        signal,
      ),
    );
  }

  /**
   * Pulls an image for a pod and looks at it; waits for its turn first, and shares the pull with all who ask for the same with
   * the same right. Rejects with an Error that has a `code`; code {@link SUPERSEDED}: nobody waits for the outcome.
   */
  async pull(params: PullParams, podUid = '', ask: PullAsk = {}): Promise<PullResult> {
    const id = String(++this.asked);
    const asking: Asking = { id, params, podUid, key: ask.key ?? '', logins: [], left: null };
    this.asking.set(id, asking);
    try {
      return await this.recorded(asking, ask.onTurn ?? (() => undefined));
    } finally {
      this.asking.delete(id);
    }
  }

  /** Closes the queue's journal. */
  close(): void {
    this.pulls.close();
  }

  /** The pod is gone, or ends: it waits for no image any more, and holds up no other. */
  podGone(podUid: string): void {
    for (const asking of this.asking.values()) if (asking.podUid === podUid) this.leave(asking, canceled());
  }

  /** Where the pod stands now with an image (as its definition spells it) whose pull has not begun; null when it has, or none is asked for. */
  placeOf(podUid: string, isMeant: (image: string) => boolean): number | null {
    for (const { id, podUid: uid, params } of this.asking.values()) {
      if (uid !== podUid) continue;
      const place = this.pulls.placeOf(id);
      if (place !== null && isMeant(requestedImage(this.options.podOf?.(podUid), params.image))) return place.place;
    }
    return null;
  }

  private leave(asking: Asking, error: Error): void {
    asking.left ??= error;
    this.pulls.leave(asking.id, error);
  }

  private async recorded(asking: Asking, onTurn: NonNullable<PullAsk['onTurn']>): Promise<PullResult> {
    const { records, podOf } = this.options;
    if (records === null) return (await this.queued(asking, onTurn)).result;
    const image = requestedImage(podOf?.(asking.podUid), asking.params.image);
    await records.ready;
    records.began(image);
    try {
      const { result, login } = await this.queued(asking, onTurn);
      records.pulled(image, result.imageRef, credentialsOf(login));
      return result;
    } catch (error) {
      records.failed(image);
      throw error;
    }
  }

  /** Tells of a pod's pull secrets that cannot be had: kubelet looks for them at each sync of a pod, whatever it pulls. */
  lookForSecrets(podUid: string): void {
    const pod = this.options.podOf?.(podUid);
    const names = (pod?.spec?.imagePullSecrets ?? []).map(({ name = '' }) => name);
    if (names.length === 0) return;
    const namespace = pod?.metadata?.namespace ?? 'default';
    void missingSecrets(namespace, names, this.options).then((missing) => this.tellMissing(podUid, missing));
  }

  /** May a pod use an image that is on the node already (`imageRef` null: that is not there)? Never rejects. */
  async mayUse({ podUid, image, imageRef }: MayUse['params']): Promise<MayUse['result']> {
    const { records, podOf } = this.options;
    const pod = podOf?.(podUid);
    const names = (pod?.spec?.imagePullSecrets ?? []).map(({ name = '' }) => name);
    const namespace = pod?.metadata?.namespace ?? 'default';
    // The pod need not wait for that. Who is to pull it hears of them then.
    if (imageRef !== null || isNeverPulled(pod, image)) this.lookForSecrets(podUid);
    if (imageRef === null) return { allowed: false };
    if (records === null) return { allowed: true, unchecked: true };
    await records.ready;
    const secrets = async () => {
      const { logins } = await findSecretLogins(image, namespace, names, this.options);
      return logins.flatMap(secretOf);
    };
    const account = () => findLoginAccount(image, pullingPod(pod), this.options);
    return { allowed: !(await records.mustPull(requestedImage(pod, image), imageRef, secrets, account)) };
  }

  /** Looks for logins and waits for a pull with them; `login` is the asker's own of the one that was let in. */
  private async queued(
    asking: Asking,
    onTurn: NonNullable<PullAsk['onTurn']>,
  ): Promise<{ result: PullResult; login: TrackedLogin | null }> {
    const { metrics } = this.options;
    const { image, fresh = false } = asking.params;
    const asked = this.options.steady?.() ?? performance.now();
    const logins = await this.loginsOf(asking);
    if (asking.left !== null) throw asking.left;
    const right = pullRight(asking.params, logins);
    asking.logins = logins;
    const retry = this.attempts.hasFailed(right);
    const answer = this.pulls.ask({ asker: asking.id, right, image, fresh, retry }, onTurn);
    // Only now: a pull that both share goes on.
    this.supersede(asking);
    const { found, login, by, began, ended } = await answer;
    if (by !== asking.id) metrics.sharedPulls.inc();
    const sizeBytes = Number(found.size);
    metrics.imagePullDuration.observe({ image_size_in_bytes: imageSizeLabel(sizeBytes) }, (ended - asked) / 1000);
    const result = {
      ...imagePresent(found),
      // Who came when the pull was under way waited for the rest of it only.
      ms: Math.round(ended - Math.max(began, asked)),
      waitedMs: Math.round(ended - asked),
      sizeBytes,
    };
    return { result, login: logins[login] ?? null };
  }

  private async loginsOf({ params, podUid }: Asking): Promise<TrackedLogin[]> {
    const { image, namespace, pullSecrets } = params;
    const pod = pullingPod(this.options.podOf?.(podUid));
    const { logins, missing } = await findPullLogins(image, namespace, pullSecrets, this.options, pod);
    this.tellMissing(podUid, missing);
    return logins;
  }

  private tellMissing(podUid: string, missing: readonly string[]): void {
    if (missing.length === 0) return;
    const names = missing.join(', ');
    this.options.onMissingSecrets?.(
      podUid,
      `Unable to retrieve some image pull secrets (${names}); attempting to pull the image may not succeed.`,
    );
  }

  /**
   * A container asks for one image at a time: what it asked before, of another definition or by a worker that has died, is
   * nobody's any more. An answer under the key that is used again would be taken for the new one's.
   */
  private supersede({ id, podUid, key }: Asking): void {
    if (key === '') return;
    for (const other of this.asking.values()) {
      if (other.id === id || other.podUid !== podUid || subjectOf(other.key) !== subjectOf(key)) continue;
      if (Number(other.id) < Number(id)) this.leave(other, other.key === key ? superseded() : canceled());
    }
  }
}

function superseded(): Error {
  return Object.assign(new Error('asked again'), { code: SUPERSEDED });
}

/** `container/web/3` -> `container/web`. */
function subjectOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}

/** What the records keep of a pull: a login of the node, or none, makes the image free for all its pods. */
function credentialsOf(login: TrackedLogin | null): ImagePullCredentials {
  if (login?.serviceAccount !== undefined) return { kubernetesServiceAccounts: [login.serviceAccount] };
  const secrets = login === null ? [] : secretOf(login);
  return secrets.length === 0 ? { nodePodsAccessible: true } : { kubernetesSecrets: secrets };
}

/** How records of pulls call the secret of a login, as a list; empty for a login that is no secret's. */
function secretOf(login: TrackedLogin): ImagePullSecret[] {
  if (login.secret === undefined) return [];
  return [{ ...login.secret, credentialHash: createHash('sha256').update(loginText(login)).digest('hex') }];
}

/** Tells containerd with which snapshotter an image is unpacked. */
const HANDLER_ANNOTATION = 'io.containerd.cri.runtime-handler';

/**
 * What a pull is made with, as a text that is the same for those who may share one: the image as the runtime is asked for it,
 * the runtime handler, and all logins in the order in which they are tried. A pod whose logins are others pulls by itself, so
 * that the registry decides of it (KEP-2535). A hash stands for the logins: nobody shall read them here.
 */
function pullRight(
  { image, runtimeHandler, sandboxConfig }: EffectCatalog['image.Pull']['params'],
  logins: readonly TrackedLogin[],
): string {
  const handler = sandboxConfig?.annotations?.[HANDLER_ANNOTATION] ?? '';
  const texts = JSON.stringify(logins.map(({ username, password }) => [username, password]));
  return JSON.stringify([image, runtimeHandler, handler, createHash('sha256').update(texts).digest('hex')]);
}
