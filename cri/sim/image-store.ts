import { anyMatches } from './glob.ts';
import { draw, hexId } from './prng.ts';
import type { ImageRecord } from './records.ts';
import type { ImageBehaviour } from './script.ts';
import { refused } from './rpc-error.ts';

const GLOB = /[*?]/;
const ID = /^(?:sha256:)?([0-9a-f]{64})$/;
const MIB = 1_048_576;
/** Digests depend on the name only: the same image has the same id under each seed. */
const DIGEST_SEED = 0;

/** The images of the simulated node, by id and by every name. */
export class ImageStore {
  readonly byId = new Map<string, ImageRecord>();
  readonly #byName = new Map<string, ImageRecord>();
  /** Names that a rule declares present but that were removed since. */
  readonly #removed = new Set<string>();
  readonly #rules: readonly ImageBehaviour[];
  #bytes = 0;

  constructor(rules: readonly ImageBehaviour[]) {
    this.#rules = rules;
    for (const rule of rules) {
      if (!rule.present) continue;
      for (const glob of rule.image) if (!GLOB.test(glob)) this.add(glob);
    }
  }

  /** Sum of all sizes. */
  get usedBytes(): number {
    return this.#bytes;
  }

  /** By id, digest or name; an image that a rule says is present comes into being when it is asked for. */
  find(reference: string): ImageRecord | undefined {
    const id = ID.exec(reference);
    if (id !== null) return this.byId.get(`sha256:${id[1] ?? ''}`);
    const name = parseImageName(reference);
    const record = this.#byName.get(name.full);
    if (record !== undefined || this.#removed.has(name.full)) return record;
    return this.rule(reference)?.present === true ? this.add(reference) : undefined;
  }

  /** The first rule for a name, as given or in full. */
  rule(reference: string): ImageBehaviour | undefined {
    if (this.#rules.length === 0) return undefined;
    const { full } = parseImageName(reference);
    return this.#rules.find((rule) => anyMatches(rule.image, reference) || anyMatches(rule.image, full));
  }

  /** Makes the image present; as a pull does. */
  add(reference: string): ImageRecord {
    const name = parseImageName(reference);
    const known = this.#byName.get(name.full);
    if (known !== undefined) return known;
    const record = this.#make(name, this.rule(reference));
    const same = this.byId.get(record.id);
    if (same !== undefined) {
      this.#byName.set(name.full, same);
      return same;
    }
    this.byId.set(record.id, record);
    for (const each of [...record.repoTags, ...record.repoDigests]) this.#byName.set(each, record);
    this.#removed.delete(name.full);
    this.#bytes += record.sizeBytes;
    return record;
  }

  /** Removes the image and all its names; no error when it is absent. */
  remove(reference: string): void {
    const record = this.find(reference);
    if (record === undefined) return;
    this.byId.delete(record.id);
    for (const [name, other] of this.#byName) {
      if (other !== record) continue;
      this.#byName.delete(name);
      if (this.rule(name)?.present === true) this.#removed.add(name);
    }
    this.#bytes -= record.sizeBytes;
  }

  #make(name: ImageName, rule: ImageBehaviour | undefined): ImageRecord {
    const digest = name.digest ?? `sha256:${hexId(DIGEST_SEED, 'manifest', name.full)}`;
    return {
      id: `sha256:${hexId(DIGEST_SEED, 'config', digest)}`,
      repoTags: name.digest === undefined ? [name.full] : [],
      repoDigests: [`${name.repository}@${digest}`],
      sizeBytes: rule?.sizeBytes ?? Math.floor(MIB + draw(DIGEST_SEED, 'size', digest) * 100 * MIB),
      user: rule?.user ?? '',
      entrypoint: rule?.entrypoint ?? [],
      command: rule?.command ?? [],
      pinned: rule?.pinned ?? false,
    };
  }
}

/** A name taken apart, filled up as Docker and containerd do. */
interface ImageName {
  /** `docker.io/library/busybox`. */
  repository: string;
  /** `docker.io/library/busybox:latest`, or with `@sha256:...`. */
  full: string;
  /** `sha256:...` when the name has one. */
  digest: string | undefined;
}

const REPOSITORY = /^[a-z0-9.-]+(?::\d+)?(?:\/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)+$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** `busybox` -> `docker.io/library/busybox:latest`. Throws containerd's refusal of a name that is none. */
export function parseImageName(name: string): ImageName {
  const [path = '', digest] = name.split('@', 2);
  const slash = path.lastIndexOf('/');
  const colon = path.indexOf(':', slash + 1);
  const tag = colon < 0 ? undefined : path.slice(colon + 1);
  const repository = withDomain(colon < 0 ? path : path.slice(0, colon));
  if (
    !REPOSITORY.test(repository) ||
    (tag !== undefined && !TAG.test(tag)) ||
    (digest !== undefined && !DIGEST.test(digest))
  ) {
    throw refused(`failed to parse image reference ${JSON.stringify(name)}: invalid reference format`);
  }
  const full = digest === undefined ? `${repository}:${tag ?? 'latest'}` : `${repository}@${digest}`;
  return { repository, full, digest };
}

function withDomain(path: string): string {
  const slash = path.indexOf('/');
  const domain = slash < 0 ? '' : path.slice(0, slash);
  if (domain.includes('.') || domain.includes(':') || domain === 'localhost') return path;
  return slash < 0 ? `docker.io/library/${path}` : `docker.io/${path}`;
}
