import { isIP } from 'node:net';
import { isLabelValue, isQualifiedName } from '../../actors/configure/configuration/kubernetes-names.ts';
import { isQuantity } from '../../machines/values/quantity.ts';
import { parseGoDuration } from '../../machines/values/go-duration.ts';
import type { FlagSpec } from './flag-spec.ts';
import { goInteger } from './go-integer.ts';

/** A value read from the command line, in the v1beta1 form of its field, or the phrase that says what is accepted. */
export type FlagValue = { ok: true; value: unknown } | { ok: false; accepted: string };

const good = (value: unknown): FlagValue => ({ ok: true, value });
const bad = (accepted: string): FlagValue => ({ ok: false, accepted });

/** Go's strconv.ParseBool. */
const TRUTHS: ReadonlyMap<string, boolean> = new Map([
  ...['1', 't', 'T', 'TRUE', 'true', 'True'].map((word) => [word, true] as const),
  ...['0', 'f', 'F', 'FALSE', 'false', 'False'].map((word) => [word, false] as const),
]);

/** What is accepted, by kind; for errors and for `--help`. */
export function acceptedForm(spec: FlagSpec): string {
  if (spec.words !== undefined) return `one of ${spec.words.join(', ')}`;
  const between = spec.separator ?? '=';
  switch (spec.kind) {
    case 'bool':
      return 'true or false';
    case 'int':
      return 'a whole number';
    case 'duration':
      return 'a duration such as "300ms", "20s" or "1h30m"';
    case 'list':
      return 'values with commas between';
    case 'map':
      return `key${between}value pairs with commas between`;
    case 'gates':
      return 'name=true|false pairs with commas between';
    case 'ip':
      return 'an IP address';
    case 'quantity':
      return 'a quantity such as "512Ki"';
    case 'taints':
      return 'key=value:effect with commas between; effects: NoSchedule, PreferNoSchedule, NoExecute';
    case 'reservedMemory':
      return 'node:type=quantity[,type=quantity], e.g. "0:memory=1Gi,hugepages-1Gi=2Gi"';
    case 'headers':
      return 'name:value pairs with commas between';
    case 'vmodule':
      return 'pattern=N pairs with commas between';
    default:
      return 'a text';
  }
}

/** Reads all occurrences of a flag. Where a flag holds one value the last one counts; lists and maps add up. */
export function readFlagValue(spec: FlagSpec, raw: readonly string[]): FlagValue {
  const accepted = acceptedForm(spec);
  const last = raw.at(-1) ?? '';
  switch (spec.kind) {
    case 'bool':
      return TRUTHS.has(last) ? good(TRUTHS.get(last)) : bad(accepted);
    case 'int':
      return ofInteger(spec.name === 'v' ? decimal(last) : goInteger(last), accepted);
    case 'duration':
      return parseGoDuration(last) === undefined ? bad(accepted) : good(last);
    case 'ip':
      return isIP(last) === 0 ? bad(accepted) : good(last);
    case 'quantity':
      return isQuantity(last) ? good(last) : bad(accepted);
    case 'list':
      return good(pieces(raw));
    case 'map':
      return readMap(spec, raw, accepted);
    case 'gates':
      return readGates(raw, accepted);
    case 'taints':
      return readTaints(pieces(raw), accepted);
    case 'reservedMemory':
      return readReservedMemory(raw, accepted);
    case 'headers':
      return readHeaders(pieces(raw), accepted);
    case 'vmodule':
      return readVmodule(pieces(raw), accepted);
    default:
      return spec.words === undefined || spec.words.includes(last) ? good(last) : bad(accepted);
  }
}

/** klog's verbosity alone is read with base 10. */
function decimal(text: string): number | undefined {
  return /^[+-]?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : undefined;
}

function ofInteger(value: number | undefined, accepted: string): FlagValue {
  return value === undefined ? bad(accepted) : good(value);
}

function pieces(raw: readonly string[]): string[] {
  return raw.flatMap((text) => (text === '' ? [] : text.split(',')));
}

function readMap(spec: FlagSpec, raw: readonly string[], accepted: string): FlagValue {
  const out: Record<string, string> = {};
  const between = spec.separator ?? '=';
  for (const piece of pieces(raw)) {
    if (piece === '') continue;
    const at = piece.indexOf(between);
    // A label may have no value at all.
    if (at < 0 && spec.name !== 'node-labels') return bad(accepted);
    const [key, value] = at < 0 ? [piece, ''] : [piece.slice(0, at), piece.slice(at + 1)];
    if (key.trim() === '__proto__') return bad(accepted);
    out[key.trim()] = value.trim();
  }
  return good(out);
}

function readGates(raw: readonly string[], accepted: string): FlagValue {
  const out: Record<string, boolean> = {};
  for (const piece of pieces(raw)) {
    if (piece === '') continue;
    const [key = '', value, ...more] = piece.split('=').map((part) => part.trim());
    const truth = value === undefined || more.length > 0 ? undefined : TRUTHS.get(value);
    if (truth === undefined || key === '__proto__') return bad(accepted);
    out[key] = truth;
  }
  return good(out);
}

function readTaints(list: readonly string[], accepted: string): FlagValue {
  const taints: { key: string; value: string; effect: string }[] = [];
  for (const text of list) {
    const [name = '', effect = '', ...more] = text.split(':');
    const [key = '', value = '', ...rest] = name.split('=');
    const effects = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'];
    if (more.length + rest.length > 0 || !isQualifiedName(key) || !isLabelValue(value) || !effects.includes(effect)) {
      return bad(accepted);
    }
    taints.push({ key, value, effect });
  }
  return good(taints);
}

function readReservedMemory(raw: readonly string[], accepted: string): FlagValue {
  const out: { numaNode: number; limits: Record<string, string> }[] = [];
  for (const text of raw.flatMap((value) => (value === '' ? [] : value.split(';')))) {
    const match = /^(\d+):(.+)$/.exec(text);
    if (!match) return bad(accepted);
    const limits: Record<string, string> = {};
    for (const piece of (match[2] ?? '').split(',')) {
      const [type = '', amount = '', ...more] = piece.split('=');
      if (more.length > 0 || !isQuantity(amount) || (type !== 'memory' && !type.startsWith('hugepages-'))) {
        return bad(accepted);
      }
      limits[type] = amount;
    }
    out.push({ numaNode: Number(match[1]), limits });
  }
  return good(out);
}

function readHeaders(list: readonly string[], accepted: string): FlagValue {
  // A header may be called `constructor`.
  const out = new Map<string, string[]>();
  for (const text of list) {
    const at = text.indexOf(':');
    if (at < 0) return bad(accepted);
    const name = text.slice(0, at).trim();
    if (name === '__proto__') return bad(accepted);
    const values = out.get(name) ?? [];
    values.push(text.slice(at + 1).trim());
    out.set(name, values);
  }
  return good(Object.fromEntries(out));
}

function readVmodule(list: readonly string[], accepted: string): FlagValue {
  const out: { filePattern: string; verbosity: number }[] = [];
  for (const text of list) {
    const match = /^([^=]+)=(\d+)$/.exec(text);
    if (!match) return bad(accepted);
    out.push({ filePattern: match[1] ?? '', verbosity: Number(match[2]) });
  }
  return good(out);
}
