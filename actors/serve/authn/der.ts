/** One element of DER: its tag byte, its content, and the whole of it with tag and length. */
export interface DerElement {
  tag: number;
  content: Buffer;
  whole: Buffer;
}

/** Tag bytes of X.690 that certificates use. */
export const TAG = {
  boolean: 0x01,
  null: 0x05,
  integer: 0x02,
  bitString: 0x03,
  octetString: 0x04,
  oid: 0x06,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** What is no DER. */
export class DerError extends Error {
  constructor(what: string) {
    super(`malformed certificate: ${what}`);
    this.name = 'DerError';
  }
}

/** Reads the element at the start of `bytes`, which may go on behind it. */
export function derElement(bytes: Buffer): DerElement {
  const tag = bytes[0];
  const first = bytes[1];
  if (tag === undefined || first === undefined) throw new DerError('cut off');
  if ((tag & 0x1f) === 0x1f) throw new DerError('long tag');
  let length = first;
  let head = 2;
  if (first >= 0x80) {
    const count = first & 0x7f;
    if (count === 0 || count > 4 || bytes.length < 2 + count) throw new DerError('bad length');
    length = bytes.readUIntBE(2, count);
    // DER writes a length in as few bytes as will do.
    if (length < 0x80 || bytes[2] === 0) throw new DerError('bad length');
    head = 2 + count;
  }
  if (bytes.length < head + length) throw new DerError('cut off');
  return { tag, content: bytes.subarray(head, head + length), whole: bytes.subarray(0, head + length) };
}

/** All elements in a row, as in the content of a SEQUENCE or SET. */
export function derElements(bytes: Buffer): DerElement[] {
  const out: DerElement[] = [];
  for (let rest = bytes; rest.length > 0;) {
    const element = derElement(rest);
    out.push(element);
    rest = rest.subarray(element.whole.length);
  }
  return out;
}

/** The element, which must have this tag. */
export function expectTag(element: DerElement | undefined, tag: number): DerElement {
  if (element?.tag !== tag) throw new DerError(`no element with tag ${String(tag)} where one must be`);
  return element;
}

/** The elements of a SEQUENCE. */
export function derSequence(element: DerElement | undefined): DerElement[] {
  return derElements(expectTag(element, TAG.sequence).content);
}

/** An OBJECT IDENTIFIER in dots. */
export function derOid(content: Buffer): string {
  const parts: number[] = [];
  let value = 0;
  let starts = true;
  for (const byte of content) {
    // Neither zeros before a number, nor more than Go's readers of OIDs hold.
    if ((starts && byte === 0x80) || value > 0x7fffffff / 128) throw new DerError('bad object identifier');
    value = value * 128 + (byte & 0x7f);
    starts = (byte & 0x80) === 0;
    if (!starts) continue;
    if (parts.length === 0) {
      const root = Math.min(2, Math.floor(value / 40));
      parts.push(root, value - root * 40);
    } else parts.push(value);
    value = 0;
  }
  if (!starts || parts.length === 0) throw new DerError('bad object identifier');
  return parts.join('.');
}

/** The OBJECT IDENTIFIER that an element is. */
export function derOidOf(element: DerElement | undefined): string {
  return derOid(expectTag(element, TAG.oid).content);
}

/** The bytes of an INTEGER, as few as will do; negative ones are refused. */
export function derUnsigned(element: DerElement | undefined): Buffer {
  const { content } = expectTag(element, TAG.integer);
  const [first = 0x80, second = 0x80] = content;
  if (first >= 0x80 || (content.length > 1 && first === 0 && second < 0x80)) throw new DerError('bad integer');
  return content;
}

/** A small INTEGER that is not negative. */
export function derSmallInteger(element: DerElement | undefined): number {
  const content = derUnsigned(element);
  if (content.length > 5) throw new DerError('huge integer');
  return content.readUIntBE(0, content.length);
}

/** A BOOLEAN, of which DER knows two. */
export function derBoolean({ content }: DerElement): boolean {
  const [byte] = content;
  if (content.length !== 1 || (byte !== 0 && byte !== 0xff)) throw new DerError('bad boolean');
  return byte === 0xff;
}

/** The bytes of a BIT STRING; those bits of the last one that do not count must be 0. */
export function derBits(element: DerElement | undefined): Buffer {
  const { content } = expectTag(element, TAG.bitString);
  const [unused = 8, ...bytes] = content;
  if (unused > 7 || (bytes.length === 0 && unused !== 0) || ((bytes.at(-1) ?? 0) & ((1 << unused) - 1)) !== 0)
    throw new DerError('bad bit string');
  return content.subarray(1);
}

/** UTCTime or GeneralizedTime as Go reads it, as ms since 1970. */
export function derTime(element: DerElement | undefined): number {
  const text = element?.content.toString('latin1') ?? '';
  const match =
    element?.tag === TAG.utcTime
      ? /^(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)?Z$/.exec(text)
      : element?.tag === TAG.generalizedTime
        ? /^(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(text)
        : null;
  if (match === null) throw new DerError('bad time');
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match
    .slice(1)
    .map((part) => Number(part ?? 0));
  const full = match[1]?.length === 4 ? year : year < 50 ? 2000 + year : 1900 + year;
  const at = new Date(0);
  at.setUTCFullYear(full, month - 1, day);
  at.setUTCHours(hour, minute, second);
  if (at.getUTCMonth() !== month - 1 || at.getUTCDate() !== day || minute > 59 || second > 59)
    throw new DerError('bad time');
  return at.getTime();
}

/** Text of the string types that names of certificates may have; throws on any other type. */
export function derString({ tag, content }: DerElement): string {
  switch (tag) {
    case 0x0c:
      return utf8(content);
    case 0x12: // NumericString
      return matching(content, /^[0-9 ]*$/);
    case 0x13: // PrintableString; a star and an ampersand are no part of it, and common
      return matching(content, /^[A-Za-z0-9'()+,\-./ :=?*&]*$/);
    case 0x16: // IA5String
      return ia5(content);
    case 0x14: // T61String
      return content.toString('latin1');
    case 0x1e: // BMPString
      return bmp(content);
    default:
      throw new DerError(`unsupported string type ${String(tag)}`);
  }
}

function utf8(content: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch (cause) {
    throw new DerError(`name is not UTF-8 (${String(cause)})`);
  }
}

/** Text of ASCII. */
export function ia5(content: Buffer): string {
  return matching(content, /^[\x00-\x7f]*$/);
}

function matching(content: Buffer, allowed: RegExp): string {
  const text = content.toString('latin1');
  if (!allowed.test(text)) throw new DerError('bad character in a name');
  return text;
}

/** As Go reads it: without a zero at its end, and without what is no character of its own. */
function bmp(content: Buffer): string {
  if (content.length % 2 !== 0) throw new DerError('bad BMPString');
  const text = Buffer.from(content).swap16().toString('utf16le').replace(/\0$/, '');
  if (/[\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]/.test(text)) throw new DerError('bad BMPString');
  return text;
}
