import type { Pod } from '../../../machines/protocol/api-types.ts';

/** Labels and annotations by which machines and runtimes work, not people: their values stay. */
const OWN_KEYS = /^([\w.-]+\.)?kubernetes\.io\/|^io\.kubernetes\./;

/** Fields whose text says what a user runs, not how a pod is made: each value under them is masked. */
const SECRET_FIELDS = new Set(['value', 'command', 'args', 'subPathExpr', 'stringData', 'data']);

/** Fields that name another object of the API. */
const OBJECT_FIELDS = new Set([
  'configMapKeyRef',
  'secretKeyRef',
  'configMapRef',
  'secretRef',
  'configMap',
  'secret',
  'imagePullSecrets',
  'persistentVolumeClaim',
  'ownerReferences',
]);
const OBJECT_NAMES = new Set(['name', 'secretName', 'claimName', 'key', 'uid']);
/** Names that stand alone. */
const LONE_NAMES = new Set(['serviceAccountName', 'serviceAccount', 'nodeName', 'hostname', 'subdomain', 'claimName']);

/** Fields of messages that carry texts of programs, of the runtime or of the user. */
const TEXT_FIELDS = new Set(['message', 'output', 'body', 'error', 'why', 'desc']);

/** Words shorter than this are masked where they stand, and not searched for in texts: they would be found everywhere. */
const SHORTEST_WORD = 4;
/** Parts of a masked text that are searched for in texts as well, e.g. of `--password=...`. */
const SHORTEST_PART = 6;
const BETWEEN_PARTS = /[\s=:,;/@&?"'()[\]{}]+/;

/** Replaces texts by made-up ones, the same text always by the same. */
export class Mask {
  private readonly words = new Map<string, string>();
  private readonly parts = new Map<string, string>();
  private pattern: RegExp | null = null;

  /** The stand-in of a text; '' stays. */
  of(text: string, sort = 'masked'): string {
    if (text === '') return '';
    let word = this.words.get(text);
    if (word === undefined) {
      word = `${sort}-${this.words.size + 1}`;
      this.words.set(text, word);
      for (const part of text.split(BETWEEN_PARTS))
        if (part.length >= SHORTEST_PART && part !== text) this.parts.set(part, word);
      this.pattern = null;
    }
    return word;
  }

  /** Masks a message or a piece of a context: texts in the fields that carry them, and labels and annotations. */
  message<T>(value: T): T {
    return this.walk(value, '') as T;
  }

  /** Masks every text of an effect, whatever field it is in. */
  everywhere<T>(value: T): T {
    return this.walk(maskFields(value, this, ''), 'message') as T;
  }

  /** Replaces what is masked elsewhere wherever it occurs as a whole word. */
  text(text: string): string {
    const exact = this.words.get(text);
    if (exact !== undefined) return exact;
    this.pattern ??= this.compile();
    return text.replace(this.pattern, (word) => this.words.get(word) ?? this.parts.get(word) ?? word);
  }

  /** `field`: the innermost field around it that says what it is. */
  private walk(value: unknown, field: string): unknown {
    if (typeof value === 'string') return TEXT_FIELDS.has(field) ? this.text(value) : value;
    if (Array.isArray(value)) return value.map((item) => this.walk(item, field));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, child]) => {
        if (key === 'labels' || key === 'annotations') return [key, this.table(child)];
        if (key === 'messages') return [key, this.walk(child, 'message')];
        return [key, this.walk(child, TEXT_FIELDS.has(key) || field === 'message' ? 'message' : key)];
      }),
    );
  }

  private table(table: unknown): unknown {
    if (typeof table !== 'object' || table === null) return table;
    return Object.fromEntries(
      Object.entries(table).map(([key, value]) => [
        key,
        typeof value === 'string' && !OWN_KEYS.test(key) ? this.of(value) : value,
      ]),
    );
  }

  private compile(): RegExp {
    const words = [...this.words.keys()].filter((word) => word.length >= SHORTEST_WORD);
    const all = [...words, ...this.parts.keys()].sort((a, b) => b.length - a.length);
    if (all.length === 0) return /(?!)/;
    const any = all.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|');
    // eslint-disable-next-line no-restricted-syntax -- words as they stand, without a quantifier
    return new RegExp(`(?<![A-Za-z0-9])(?:${any})(?![A-Za-z0-9])`, 'g');
  }
}

/** A pod without what could tell of its user: values, commands, names of other objects. Names of the pod, its containers and images stay. */
export function maskPod(pod: Pod, mask: Mask): Pod {
  const { metadata, spec } = pod;
  return {
    ...pod,
    ...(metadata && {
      metadata: {
        ...(maskFields(metadata, mask, '') as object),
        ...(metadata.labels && { labels: maskValues(metadata.labels, mask) }),
        ...(metadata.annotations && { annotations: maskValues(metadata.annotations, mask) }),
      },
    }),
    ...(spec && { spec: maskFields(spec, mask, '') }),
  } as Pod;
}

function maskValues(table: Record<string, string>, mask: Mask): Record<string, string> {
  return Object.fromEntries(
    Object.entries(table).map(([key, value]) => [key, OWN_KEYS.test(key) ? value : mask.of(value)]),
  );
}

/** `within`: the innermost field around it that names another object. */
function maskFields(value: unknown, mask: Mask, within: string): unknown {
  if (Array.isArray(value)) return value.map((item) => maskFields(item, mask, within));
  if (typeof value !== 'object' || value === null) return value;
  const out: Record<string, unknown> = {};
  for (const [key, child] of Object.entries(value)) {
    if (SECRET_FIELDS.has(key)) out[key] = maskTexts(child, mask);
    else if (LONE_NAMES.has(key) && typeof child === 'string') out[key] = mask.of(child, 'name');
    else if (within !== '' && OBJECT_NAMES.has(key) && typeof child === 'string') out[key] = mask.of(child, 'name');
    else if (key === 'nodeSelector' || key === 'matchLabels') out[key] = maskTexts(child, mask);
    else out[key] = maskFields(child, mask, OBJECT_FIELDS.has(key) ? key : key === 'items' ? within : '');
  }
  return out;
}

function maskTexts(value: unknown, mask: Mask): unknown {
  if (typeof value === 'string') return mask.of(value);
  if (Array.isArray(value)) return value.map((item) => maskTexts(item, mask));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, child]) => [key, maskTexts(child, mask)]));
}
