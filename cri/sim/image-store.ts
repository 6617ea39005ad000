import { anyMatches } from './glob.ts';
import { parseImageName } from './image-names.ts';
import type { ImageName } from './image-names.ts';
import { draw, hexId } from './prng.ts';
import type { ImageRecord } from './records.ts';
import type { ImageBehaviour } from './script.ts';

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
