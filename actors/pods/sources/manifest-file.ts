import { createHash } from 'node:crypto';
import type { ActorletError } from '../../../machines/errors/define.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { ValidationGates } from '../../../machines/pod-validation/environment.ts';
import type { StaticOrigin } from '../../../machines/sources/static-pod.ts';
import { readManifest } from './parse-manifest.ts';
import { lookAtFile } from './read-file.ts';

/**
 * One manifest file and the pods that come from it.
 *
 * A file that turns bad - a half-saved edit, a typing error, lost permissions - does not take its running pods away at
 * once: they stay until the file has been bad for a whole `fileCheckFrequency`. (kubelet keeps them until its next
 * listing, which may come at any moment of an edit.) A file that is deleted takes its pods away at once.
 */
export class ManifestFile {
  readonly path: string;
  #origin: StaticOrigin;
  #signature: string | undefined;
  #digest = '';
  #good: Pod[] = [];
  #kept: Pod[] = [];
  #badSince: number | undefined;
  errors: ActorletError[] = [];
  unknownFields: string[] = [];
  /** First event of its folder that came after it was last looked at. */
  eventsFrom = 0;
  /** Of the file that was last read ({@link lookAtFile}); '' when there was none. */
  identity = '';

  constructor(path: string, nodeName: string, gates?: ValidationGates) {
    this.path = path;
    this.#origin = { kind: 'file', location: path, nodeName, ...(gates && { gates }) };
  }

  /** Pods that should run because of this file. */
  get pods(): Pod[] {
    return this.#kept.length === 0 ? this.#good : [...this.#good, ...this.#kept];
  }

  /** Looks at the file; false when it is gone. `force`: read it even if size and times are the same. `at`: monotonic ms. Rejects when `signal` aborts. */
  async refresh(force: boolean, at: number, signal?: AbortSignal): Promise<boolean> {
    const look = await lookAtFile(this.path, force ? undefined : this.#signature);
    if (look.kind === 'gone') return false;
    if (look.kind === 'same') return true;
    this.#signature = look.signature;
    this.identity = look.identity;
    if (look.kind === 'failed') {
      this.#digest = '';
      this.#turn([], [look.error], at);
      this.unknownFields = [];
      return true;
    }
    const digest = createHash('sha256').update(look.text).digest('hex');
    if (digest === this.#digest) return true;
    const { pods, errors, unknownFields } = await readManifest(look.text, this.#origin, this.path, signal);
    this.#digest = digest;
    this.#turn(pods, errors, at);
    this.unknownFields = unknownFields;
    return true;
  }

  #turn(pods: Pod[], errors: ActorletError[], at: number): void {
    const names = new Set(pods.map(fullName));
    const before = this.pods;
    this.#good = pods;
    this.errors = errors;
    this.#badSince = errors.length === 0 ? undefined : (this.#badSince ?? at);
    this.#kept = errors.length === 0 ? [] : before.filter((pod) => !names.has(fullName(pod)));
  }

  /** Lets go of pods that no good document backs any more, once the file has been bad for `ms`. True when it did. */
  expire(at: number, ms: number): boolean {
    if (this.#kept.length === 0 || this.#badSince === undefined || at - this.#badSince < ms) return false;
    this.#kept = [];
    return true;
  }
}

/** Namespace and name of a pod as one key. */
export function fullName(pod: Pod): string {
  return `${pod.metadata?.namespace ?? ''}/${pod.metadata?.name ?? ''}`;
}
