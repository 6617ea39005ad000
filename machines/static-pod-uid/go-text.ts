import { GO_NAMED, GO_STRUCTS } from './generated/go-types.ts';
import { type GoQuantity, NO_QUANTITY, parseGoQuantity, quantityText, roundedUp } from './go-quantity.ts';
import { escapedAsGo } from '../container-config/go-json.ts';
import { canonicalJson } from '../sources/canonical-json.ts';
import { utf8 } from '../values/hash.ts';
import { isQuantity } from '../values/quantity.ts';

/**
 * Writes a JSON value as spew prints the Go value, without its type. What is not of the type (nobody checks the parts of a pod that are
 * only passed on) counts as not there, as undefined and null do.
 */
type Writer = (value: unknown, write: (text: string) => void) => void;

/**
 * What `dump.ForHash` (`%#v` of spew) prints of a Go value, without its type: all types and fields by name, nil and empty told apart,
 * maps sorted.
 * @param type Go's name of the type, as in {@link GO_STRUCTS}
 * @param value JSON of it
 * @param write is given the text in parts: it is long
 */
export function writeGoText(type: string, value: unknown, write: (text: string) => void): void {
  writerOf(type)(value, write);
}

const writers = new Map<string, Writer>();

function writerOf(type: string): Writer {
  let writer = writers.get(type);
  if (!writer) {
    writer = makeWriter(type);
    writers.set(type, writer);
  }
  return writer;
}

const isThere = (value: unknown): boolean => value !== undefined && value !== null;
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function makeWriter(type: string): Writer {
  const special = SPECIAL[type];
  if (special) return (value, write) => write(special(value));
  if (type === 'core.ResourceList') return resourceList;
  const fields = GO_STRUCTS[type];
  if (fields !== undefined) return structWriter(fields);
  const named = GO_NAMED[type];
  if (named !== undefined) return writerOf(named);
  const map = /^map\[[^\]]+\](.+)$/.exec(type);
  if (map) return mapWriter(map[1] ?? '');
  if (type.startsWith('[]')) return listWriter(type.slice(2));
  if (type.startsWith('*')) {
    const inner = writerOf(type.slice(1));
    return (value, write) => (isThere(value) ? inner(value, write) : write('<nil>'));
  }
  throw new Error(`no Go type is called ${type}`);
}

function structWriter(fields: string): Writer {
  const parts = fields.split(' ').map((field, index) => {
    const [name = '', json = '', type = ''] = field.split(':');
    return { before: `${index === 0 ? '{' : ' '}${name}:(${type})`, json, writer: writerOf(type) };
  });
  return (value, write) => {
    const object = isObject(value) ? value : {};
    for (const { before, json, writer } of parts) {
      write(before);
      writer(json === '' ? object : object[json], write);
    }
    write('}');
  };
}

function listWriter(item: string): Writer {
  const writer = writerOf(item);
  return (value, write) => {
    if (!Array.isArray(value)) return write('<nil>');
    write('[');
    for (const [index, one] of value.entries()) {
      if (index > 0) write(' ');
      writer(one, write);
    }
    write(']');
  };
}

function mapWriter(item: string): Writer {
  const writer = writerOf(item);
  return (value, write) => {
    if (!isObject(value)) return write('<nil>');
    const keys = Object.keys(value).sort(compareBytes);
    write('map[');
    for (const [index, key] of keys.entries()) {
      write(`${index === 0 ? '' : ' '}${key}:`);
      writer(value[key], write);
    }
    write(']');
  };
}

/** The order of two texts by their UTF-8 bytes, which is that of their code points. */
function compareBytes(a: string, b: string): number {
  for (let i = 0; i < a.length && i < b.length; i++) {
    if (a.charCodeAt(i) !== b.charCodeAt(i)) return (a.codePointAt(i) ?? 0) - (b.codePointAt(i) ?? 0);
  }
  return a.length - b.length;
}

function asQuantity(value: unknown): GoQuantity {
  if (isObject(value)) return value as unknown as GoQuantity;
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && isQuantity(text) ? parseGoQuantity(text) : NO_QUANTITY;
}

/** The defaults of v1 round each amount of a list of resources. */
function resourceList(value: unknown, write: (text: string) => void): void {
  const rounded =
    isObject(value) &&
    Object.fromEntries(Object.entries(value).map(([name, amount]) => [name, roundedUp(asQuantity(amount))]));
  writerOf('map[core.ResourceName]resource.Quantity')(rounded, write);
}

const numberText = (value: unknown): string => (typeof value === 'number' ? String(value) : '0');

/** Types that are not what their JSON is. Amounts may be {@link GoQuantity} already. */
const SPECIAL: Record<string, (value: unknown) => string> = {
  string: (value) => (typeof value === 'string' ? value : ''),
  bool: (value) => String(value === true),
  int32: numberText,
  int64: numberText,
  'resource.Quantity': (value) => quantityText(asQuantity(value)),
  // A time itself cannot be told: see kubeletUid.
  'v1.Time': () => '{Time:(time.Time){wall:(uint64)0 ext:(int64)0 loc:(*time.Location)<nil>}}',
  // The bytes of its JSON, as they come out of YAML: with sorted keys.
  'v1.FieldsV1': (value) => `{Raw:([]uint8)[${utf8(escapedAsGo(canonicalJson(value))).join(' ')}]}`,
  'intstr.IntOrString': (value) => {
    const [type, text] = typeof value === 'string' ? [1, value] : [0, ''];
    return `{Type:(intstr.Type)${type} IntVal:(int32)${numberText(value)} StrVal:(string)${text}}`;
  },
};
