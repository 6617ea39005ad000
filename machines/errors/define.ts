/** One kind of error, as data: what happened (a template) and what to do about it. */
export interface ErrorSpec {
  /** Stable code, e.g. `CFG002`; the row in docs/errors.md carries the same code. */
  readonly code: string;
  /** Message template; `{name}` is replaced by the parameter of that name. */
  readonly message: string;
  /** What the reader can do, in one sentence. */
  readonly cure: string;
}

/** An error from the registry. `message` is `CODE: what happened. What to do.` */
export class ActorletError extends Error {
  readonly code: string;
  readonly params: Readonly<Record<string, string | number>>;

  constructor(spec: ErrorSpec, params: Record<string, string | number> = {}, options?: { cause?: unknown }) {
    super(`${spec.code}: ${fill(spec.message, params)} ${fill(spec.cure, params)}`, options);
    this.name = 'ActorletError';
    this.code = spec.code;
    this.params = params;
  }
}

/** Gives each entry its code: `defineErrors('CFG', { unknownField: [2, 'message', 'cure'] })` -> `CFG002`. */
export function defineErrors<K extends string>(
  prefix: string,
  table: Record<K, readonly [number: number, message: string, cure: string]>,
): Record<K, ErrorSpec> {
  const out = {} as Record<K, ErrorSpec>;
  for (const name of Object.keys(table) as K[]) {
    const [number, message, cure] = table[name];
    out[name] = { code: `${prefix}${String(number).padStart(3, '0')}`, message, cure };
  }
  return out;
}

function fill(template: string, params: Record<string, string | number>): string {
  return template.replace(/\{(\w+)\}/g, (whole, name: string) => String(params[name] ?? whole));
}
