import { createHash } from 'node:crypto';
import { MAX_IMAGE_BACK_OFF_MS } from '../../../machines/container/back-off.ts';
import type { EffectCatalog } from '../../../machines/protocol/effects.ts';
import { aggregate } from '../../../machines/values/aggregate.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import type { Image, AuthConfig } from '../../../cri/generated/runtime/v1/api.ts';
import { CriError } from '../../../cri/client/cri-error.ts';
import { TokenBucket } from '../flow-control/token-bucket.ts';
import type { TrackedLogin } from './pull-logins.ts';

/** After a pull an image is looked for first, for those who looked for it before: for so long, ms. */
const JUST_PULLED_MS = 10_000;
/** For so long it counts that a pull has failed, ms: the longest back-off, twice. */
const FAILED_MS = 2 * MAX_IMAGE_BACK_OFF_MS;

type PullParams = EffectCatalog['image.Pull']['params'];

/** One who waits for a pull, and what it would be made with for him alone. */
export interface Attempt {
  id: string;
  params: PullParams;
  logins: readonly TrackedLogin[];
}

/** What a pull came to, for all who shared it. */
export interface Pulled {
  found: Image;
  /** Place of the login that was let in among those of the pull, -1 without logins. */
  login: number;
  /** Who asked for it first; '' when nothing was pulled. */
  by: string;
  /** ms, of the steady clock. */
  began: number;
  ended: number;
}

/** Stands for a right for as long as it counts that it failed, and names neither an image nor a pod that is gone by then. */
function mark(right: string): string {
  return createHash('sha256').update(right).digest('base64url');
}

/** Pulls that are made of the runtime, and what became of the last ones. All times are of the steady clock, ms. */
export class PullAttempts {
  private readonly cri: CriClient;
  private readonly bucket: TokenBucket | null;
  private readonly steady: () => number;
  /** By right: the last pull that ended well, while it is young. */
  private readonly justPulled = new Map<string, Pick<Pulled, 'login' | 'ended'>>();
  /** By the mark of a right: when its last pull failed. */
  private readonly failed = new Map<string, number>();

  /** @param options.qps pulls per second, 0 = no limit @param options.steady a clock that nobody can set, ms; the machine's when it is not given */
  constructor({ cri, qps, burst, steady }: { cri: CriClient; qps: number; burst: number; steady?: () => number }) {
    this.cri = cri;
    this.steady = steady ?? (() => performance.now());
    this.bucket = qps > 0 ? new TokenBucket(qps, burst, this.steady) : null;
  }

  /** The last pull with this right failed, not long ago. */
  hasFailed(right: string): boolean {
    return this.failed.has(mark(right));
  }

  /** Pulls for all of them, with what the first would pull with (the others' is the same), and looks at the image. */
  async carryOut(right: string, all: readonly Attempt[], signal: AbortSignal): Promise<Pulled> {
    try {
      const pulled = await this.pulled(right, all, signal);
      this.failed.delete(mark(right));
      return pulled;
    } catch (error) {
      const now = this.steady();
      forgetOlder(this.failed, (at) => now - at > FAILED_MS);
      if (!signal.aborted) this.failed.set(mark(right), now);
      throw error;
    }
  }

  private async pulled(right: string, all: readonly Attempt[], signal: AbortSignal): Promise<Pulled> {
    const [first] = all;
    if (first === undefined) throw canceled();
    const { params, logins, id } = first;
    const image = specOf(params);
    const began = this.steady();
    const before = this.justPulled.get(right);
    if (before !== undefined && began - before.ended < JUST_PULLED_MS && all.every((each) => !each.params.fresh)) {
      // They looked for it before it came.
      const { image: found } = await this.cri.image.imageStatus({ image });
      if (found !== undefined) return { found, login: before.login, by: '', began, ended: this.steady() };
    }
    this.countPull();
    const login = await pullWithLogins(this.cri, params, logins, signal);
    const { image: found } = await this.cri.image.imageStatus({ image });
    if (found === undefined)
      throw Object.assign(new Error(`image "${params.image}" is not there after its pull`), { code: 'NotFound' });
    const ended = this.steady();
    forgetOlder(this.justPulled, (last) => ended - last.ended > JUST_PULLED_MS);
    this.justPulled.set(right, { login, ended });
    return { found, login, by: id, began, ended };
  }

  /** A pull counts when its turn has come, once for all its logins and for all who share it. */
  private countPull(): void {
    if (this.bucket !== null && !this.bucket.tryTake())
      throw Object.assign(new Error('pull QPS exceeded'), { code: 'QPS' });
  }
}

/** What somebody is told who waits for a pull no more, as Go says it. */
export function canceled(): Error {
  return Object.assign(new Error('context canceled'), { code: 'Canceled' });
}

function forgetOlder<T>(known: Map<string, T>, isOld: (value: T) => boolean): void {
  for (const [key, value] of known) if (isOld(value)) known.delete(key);
}

/**
 * Pulls an image: with several logins for its registry, one after the other is tried until one is let in. Returns that one's
 * place among them, -1 when there are none. Rejects with an Error that has a `code`.
 */
async function pullWithLogins(
  cri: CriClient,
  params: PullParams,
  logins: readonly TrackedLogin[],
  signal: AbortSignal,
): Promise<number> {
  const { sandboxConfig } = params;
  const request = { image: specOf(params), ...(sandboxConfig !== null && { sandboxConfig }) };
  const failures: Error[] = [];
  const tries = logins.length === 0 ? [null] : logins;
  for (const [index, login] of tries.entries()) {
    try {
      await cri.image.pullImage({ ...request, ...(login !== null && { auth: authOf(login) }) }, { signal });
      return login === null ? -1 : index;
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

/** The image as the runtime is asked for it. Pods that share a pull may have other annotations: the first one's are sent. */
function specOf({ image, runtimeHandler, annotations }: PullParams) {
  return { image, runtimeHandler, ...(annotations && { annotations }) };
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
