import type { Logger } from 'pino';
import { accessWith, addCredentials, isAccountOf, isOpenToAll } from '../../../machines/images/pull-credentials.ts';
import { repositoryOf } from '../../../machines/images/keyring.ts';
import { mustVerify } from '../../../machines/images/pull-policy.ts';
import type { VerificationPolicy } from '../../../machines/images/pull-policy.ts';
import type {
  ImagePullCredentials,
  ImagePulledRecord,
  ImagePullSecret,
  ImagePullServiceAccount,
} from '../../../machines/images/pull-record.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { PullRecordFiles } from './pull-record-files.ts';
import type { RecordCounts } from './pull-record-files.ts';

/** How a check ended, with kubelet's word for its metric. */
export type CheckResult = 'credentialPolicyAllowed' | 'credentialRecordFound' | 'mustAuthenticate' | 'error';

/** An image as the runtime lists it, as far as it matters here. */
export interface ListedImage {
  id: string;
  repoTags: readonly string[];
  repoDigests: readonly string[];
}

/** What the records need. */
export interface PullRecordsOptions {
  /** `--root-dir`. */
  rootDir: string;
  policy: VerificationPolicy;
  /** Asked once, when pulls of a former life were under way at its end. */
  listImages: () => Promise<ListedImage[]>;
  log: Logger;
  now?: () => number;
  onCheck?: (result: CheckResult) => void;
  onCounts?: (counts: RecordCounts) => void;
}

/**
 * Remembers with which credentials images were pulled, and tells whether a pod may use one that is on the node
 * (KEP-2535, gate KubeletEnsureSecretPulledImages). The caller waits for {@link ready} first.
 */
export class PullRecords {
  /** Resolves when pulls that a former life left behind have been looked at; never rejects. */
  readonly ready: Promise<void>;
  private readonly options: PullRecordsOptions;
  private readonly files: PullRecordFiles;
  /** Pulls under way, by image as containers spell it. */
  private readonly underWay = new Map<string, number>();

  constructor(options: PullRecordsOptions) {
    this.options = options;
    this.files = new PullRecordFiles(options.rootDir, options.log);
    this.ready = this.settleIntents();
    this.told();
  }

  /** A pull begins. @throws Error when that cannot be written: then nothing may be pulled */
  began(image: string): void {
    try {
      this.files.writeIntent(image);
    } catch (cause) {
      const why = messageOf(cause);
      throw new Error(`failed to record image pull intent: ${why}`, { cause });
    }
    this.underWay.set(image, (this.underWay.get(image) ?? 0) + 1);
    this.told();
  }

  /** The pull has succeeded. Without a record the intent stays, and with it the knowledge that the agent pulled it. */
  pulled(image: string, imageRef: string, credentials: ImagePullCredentials): void {
    try {
      this.remember(image, imageRef, credentials);
    } catch (err) {
      this.options.log.error({ err, imageRef }, 'failed to write image pulled record');
      return;
    }
    this.ended(image);
  }

  /** The pull has failed. */
  failed(image: string): void {
    this.ended(image);
  }

  /**
   * Must the image be pulled (again), so that the registry decides? `image` as the container spells it, `imageRef` as
   * the runtime does. The pod's secrets, and the service account whose token brings it logins, are only looked up when they
   * matter. Never rejects.
   */
  async mustPull(
    image: string,
    imageRef: string,
    secrets: () => Promise<ImagePullSecret[]>,
    account: () => Promise<ImagePullServiceAccount | null>,
  ): Promise<boolean> {
    let result: CheckResult = 'error';
    try {
      result = await this.check(image, imageRef, secrets, account);
    } catch (err) {
      this.options.log.error({ err, imageRef }, 'Unable to access cache records about image pulls');
    }
    this.options.onCheck?.(result);
    return result === 'mustAuthenticate' || result === 'error';
  }

  /** Forgets images that are no longer on the node, but for records that are as young as `until` (ms since the epoch). */
  prune(imageRefs: ReadonlySet<string>, until: number): void {
    for (const { imageRef, lastUpdatedTime } of this.files.listRecords()) {
      if (imageRefs.has(imageRef) || Date.parse(lastUpdatedTime) >= until) continue;
      try {
        this.files.removeRecord(imageRef);
      } catch (err) {
        this.options.log.error({ err, imageRef }, 'failed to remove an ImagePulledRecord');
      }
    }
    this.told();
  }

  private async check(
    image: string,
    imageRef: string,
    secrets: () => Promise<ImagePullSecret[]>,
    account: () => Promise<ImagePullServiceAccount | null>,
  ): Promise<CheckResult> {
    const record = this.files.record(imageRef);
    const byAgent = record !== undefined || (this.underWay.get(image) ?? 0) > 0 || this.files.hasIntent(image);
    if (!mustVerify(this.options.policy, image, byAgent)) return 'credentialPolicyAllowed';
    const known = record?.credentialMapping[repositoryOf(image)];
    if (isOpenToAll(known)) return 'credentialRecordFound';
    if ((known?.kubernetesSecrets ?? []).length > 0) {
      const { allowed, remember } = accessWith(known, await secrets());
      if (remember !== null) this.rememberSeen(image, imageRef, remember);
      if (allowed) return 'credentialRecordFound';
    }
    if ((known?.kubernetesServiceAccounts ?? []).length === 0) return 'mustAuthenticate';
    return isAccountOf(known, await account()) ? 'credentialRecordFound' : 'mustAuthenticate';
  }

  private rememberSeen(image: string, imageRef: string, secret: ImagePullSecret): void {
    try {
      this.remember(image, imageRef, { kubernetesSecrets: [secret] });
    } catch (err) {
      this.options.log.error({ err, imageRef }, 'failed to write an image pulled record');
    }
  }

  /** Null credentials: it is known that the agent pulled the image, but not with what. */
  private remember(image: string, imageRef: string, credentials: ImagePullCredentials | null): void {
    const name = repositoryOf(image);
    const time = `${new Date(this.options.now?.() ?? Date.now()).toISOString().slice(0, 19)}Z`;
    let known: ImagePulledRecord | undefined;
    try {
      known = this.files.record(imageRef);
    } catch (err) {
      this.options.log.info({ err, image }, 'failed to retrieve an ImagePulledRecord');
    }
    const changed =
      known === undefined
        ? { lastUpdatedTime: time, imageRef, credentialMapping: credentials === null ? {} : { [name]: credentials } }
        : credentials === null
          ? null
          : addCredentials(known, name, credentials, time);
    if (changed !== null) this.files.writeRecord(changed);
    this.told();
  }

  private ended(image: string): void {
    const left = (this.underWay.get(image) ?? 0) - 1;
    if (left > 0) {
      this.underWay.set(image, left);
      return;
    }
    try {
      this.files.removeIntent(image);
      this.underWay.delete(image);
    } catch (err) {
      this.options.log.error({ err, image }, 'failed to remove image pull intent');
    }
    this.told();
  }

  /** A pull that was under way when the agent ended may have come to its end in the runtime. */
  private async settleIntents(): Promise<void> {
    const { listImages, log } = this.options;
    const intents = new Set(this.files.listIntents());
    if (intents.size === 0) return;
    try {
      for (const { id, repoTags, repoDigests } of await listImages()) {
        for (const image of new Set([...repoDigests, ...repoTags].filter((name) => intents.has(name)))) {
          this.remember(image, id, null);
          this.files.removeIntent(image);
        }
      }
    } catch (err) {
      log.error({ err }, 'Cannot settle the image pulls of a former life');
    }
    this.told();
  }

  private told(): void {
    this.options.onCounts?.(this.files.counts);
  }
}
