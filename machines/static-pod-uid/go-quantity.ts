/**
 * What Go's `resource.Quantity` of an amount looks like inside: kubelet's hash of a pod sees that, not the amount. A short amount is a
 * number of 64 bits and a power of ten, another one an `inf.Dec` of any length; a text that is canonical as it stands is kept.
 */
export interface GoQuantity {
  /** `i`: value times 10^scale; 0 and 0 beside a `dec`. */
  value: bigint;
  scale: number;
  /** `d.Dec`: unscaled times 10^-scale. */
  dec?: { unscaled: bigint; scale: number };
  /** `s`: the text, when it is kept. */
  kept: string;
  /** `Format`; empty for a quantity that nothing was read into. */
  format: string;
}

/** Of a field that is not there. */
export const NO_QUANTITY: GoQuantity = { value: 0n, scale: 0, kept: '', format: '' };

const PARTS = /^([+-]?)(\d*)(?:(\.)(\d*))?([eE][+-]?\d+|[numkMGTPE]|[KMGTPE]i|)$/;
const POWERS: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BITS: Record<string, number> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };
const MAX_INT64 = 2n ** 63n - 1n;
const NANO_DIGITS = 9;
const MILLI_DIGITS = 3;
/** Powers of ten beyond this are taken for it: nobody has so much, and the number would fill the memory. */
const MOST_DIGITS = 5000;

/** As `resource.ParseQuantity`. Throws RangeError when `text` is no quantity. */
export function parseGoQuantity(text: string): GoQuantity {
  if (text === '0') return { ...NO_QUANTITY, kept: text, format: 'DecimalSI' };
  const [, sign = '', given = '', , fraction = '', suffix = ''] =
    PARTS.exec(text) ?? fail(`not a quantity: ${JSON.stringify(text)}`);
  const digits = given.replace(/^0+/, '');
  const whole = digits === '' ? '0' : digits;
  const bits = BITS[suffix];
  const power = POWERS[suffix];
  const format = bits !== undefined ? 'BinarySI' : power !== undefined ? 'DecimalSI' : 'DecimalExponent';
  const exponent = bits ?? power ?? Number(suffix.slice(1));
  const short = shortForm(text, sign, whole, fraction, exponent, format);
  if (short) return short;

  const unscaled = BigInt(whole + fraction);
  let scale = fraction.length - (format === 'BinarySI' ? 0 : exponent);
  const magnitude = format === 'BinarySI' ? unscaled << BigInt(exponent) : unscaled;
  let amount = magnitude;
  if (amount !== 0n) {
    amount = toScale(amount, scale, NANO_DIGITS);
    scale = NANO_DIGITS;
  }
  let kind = format;
  if (format === 'BinarySI') {
    const unit = 10n ** BigInt(Math.max(scale, 0));
    if (amount > MAX_INT64 * unit) [amount, scale] = [MAX_INT64, 0];
    else if (amount > 0n && amount < unit) kind = 'DecimalSI';
  }
  return { ...NO_QUANTITY, dec: { unscaled: sign === '-' ? -amount : amount, scale }, format: kind };
}

/** The fast path: what fits 18 digits and is no finer than a nano. */
function shortForm(
  text: string,
  sign: string,
  whole: string,
  fraction: string,
  exponent: number,
  format: string,
): GoQuantity | undefined {
  const binary = format === 'BinarySI';
  if (binary && fraction !== '') return undefined;
  const precision = binary
    ? 15 - whole.length - Math.trunc((exponent * 3) / 10) - 1
    : 18 - (whole.length + fraction.length);
  const scale = (binary ? 0 : exponent) - fraction.length;
  if (precision < 0 || scale < -NANO_DIGITS) return undefined;
  const shifted = whole + fraction;
  const value = BigInt(shifted);
  const result = binary ? value << BigInt(exponent) : value;
  if (result > MAX_INT64) return undefined;
  const canonical = binary
    ? exponent % 10 === 0 && (value & 7n) !== 0n
    : scale % 3 === 0 && !shifted.endsWith('000') && !shifted.startsWith('0');
  return { value: sign === '-' ? -result : result, scale, kept: canonical ? text : '', format };
}

/** As `Quantity.RoundUp` to thousandths (SetDefaults_ResourceList). */
export function roundedUp(quantity: GoQuantity): GoQuantity {
  const { dec, value, scale } = quantity;
  if (dec) {
    return {
      ...quantity,
      kept: '',
      dec: { unscaled: toScale(dec.unscaled, dec.scale, MILLI_DIGITS), scale: MILLI_DIGITS },
    };
  }
  if (scale >= -MILLI_DIGITS) return quantity;
  const rounded = toScale(value, -scale, MILLI_DIGITS);
  return { ...quantity, kept: '', value: rounded, scale: -MILLI_DIGITS };
}

/** As `Quantity.Add`. */
export function addGoQuantities(a: GoQuantity, b: GoQuantity): GoQuantity {
  const format = isZero(a) ? b.format : a.format;
  if (!a.dec && !b.dec) {
    if (b.value === 0n) return { ...a, kept: '', format };
    if (a.value === 0n) return { ...b, kept: '', format };
    const scale = Math.min(a.scale, b.scale);
    const value = toScale(a.value, -a.scale, -scale) + toScale(b.value, -b.scale, -scale);
    if (value <= MAX_INT64 && value >= -MAX_INT64) return { value, scale, kept: '', format };
  }
  const [left, right] = [decOf(a), decOf(b)];
  const scale = Math.max(left.scale, right.scale);
  const unscaled = toScale(left.unscaled, left.scale, scale) + toScale(right.unscaled, right.scale, scale);
  return { ...NO_QUANTITY, dec: { unscaled, scale }, format };
}

/** As `Quantity.Cmp`: negative, zero or positive. */
export function compareGoQuantities(a: GoQuantity, b: GoQuantity): number {
  const [left, right] = [decOf(a), decOf(b)];
  const scale = Math.max(left.scale, right.scale);
  const difference = toScale(left.unscaled, left.scale, scale) - toScale(right.unscaled, right.scale, scale);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** What spew prints of it, without its type. */
export function quantityText({ value, scale, dec, kept, format }: GoQuantity): string {
  const number = `(resource.int64Amount){value:(int64)${value} scale:(resource.Scale)${scale}}`;
  return `{i:${number} d:(resource.infDecAmount){Dec:(*inf.Dec)${dec ? decText(dec) : '<nil>'}} s:(string)${kept} Format:(resource.Format)${format}}`;
}

/** An `inf.Dec`; its number is a list of 64-bit words, the lowest first. */
function decText({ unscaled, scale }: { unscaled: bigint; scale: number }): string {
  const words: string[] = [];
  for (let rest = unscaled < 0n ? -unscaled : unscaled; rest > 0n; rest >>= 64n)
    words.push(String(rest & (2n ** 64n - 1n)));
  const number = `(big.Int){neg:(bool)${unscaled < 0n} abs:(big.nat)[${words.join(' ')}]}`;
  return `{unscaled:${number} scale:(inf.Scale)${scale}}`;
}

const isZero = ({ value, dec }: GoQuantity): boolean => (dec ? dec.unscaled === 0n : value === 0n);

function decOf({ value, scale, dec }: GoQuantity): { unscaled: bigint; scale: number } {
  return dec ?? { unscaled: value, scale: -scale };
}

/** A number with `from` digits after the point as one with `to`, rounded away from zero. */
function toScale(number: bigint, from: number, to: number): bigint {
  if (to >= from) return number * 10n ** BigInt(Math.min(to - from, MOST_DIGITS));
  if (number === 0n) return 0n;
  const unit = 10n ** BigInt(Math.min(from - to, MOST_DIGITS));
  const whole = number / unit;
  if (number % unit === 0n) return whole;
  return number < 0n ? whole - 1n : whole + 1n;
}

function fail(message: string): never {
  throw new RangeError(message);
}
