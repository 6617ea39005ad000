/**
 * Kubernetes quantities (`resource.Quantity` of k8s.io/apimachinery): a signed decimal number and a suffix.
 * Suffixes: `n u m` (10^-9, 10^-6, 10^-3), none, `k M G T P E` (10^3 ... 10^18), `Ki Mi Gi Ti Pi Ei` (2^10 ... 2^60),
 * or an exponent (`e3`, `E-2`).
 */

/** How a quantity was written; decides its canonical form. */
export type QuantityFormat = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

const SHAPE = /^([+-]?)(\d+(?:\.\d*)?|\.\d+)([eE][+-]?\d+|[numkMGTPE]|[KMGTPE]i|)$/;
const DECIMAL: Record<string, number> = { n: -9, u: -6, m: -3, '': 0, k: 3, M: 6, G: 9, T: 12, P: 15, E: 18 };
const BINARY: Record<string, bigint> = { Ki: 10n, Mi: 20n, Gi: 30n, Ti: 40n, Pi: 50n, Ei: 60n };
const NANO = 1_000_000_000n;
/** 2^63 - 1 units: what the Go type holds; greater values are cut to it. */
const MAX_NANO = (2n ** 63n - 1n) * NANO;

function ceilDiv(a: bigint, b: bigint): bigint {
  const q = a / b;
  return a % b > 0n ? q + 1n : q;
}

/** Rounds away from zero, as the Go type does for anything finer than a nano. */
function awayFromZero(a: bigint, b: bigint): bigint {
  return a < 0n ? -ceilDiv(-a, b) : ceilDiv(a, b);
}

/** Digits that are calculated with: more than lie between the greatest value and the least. */
const MOST_DIGITS = 200;

/** Power of ten that a suffix stands for; 0 for a binary one. */
function powerOf(suffix: string): number {
  return suffix in BINARY ? 0 : (DECIMAL[suffix] ?? Number(suffix.slice(1)));
}

function scale(number: string, suffix: string): bigint {
  const [whole = '', fraction = ''] = number.split('.');
  const all = (whole + fraction).replace(/^0+/, '');
  if (all === '') return 0n;
  const shift = BINARY[suffix] ?? 0n;
  const power = powerOf(suffix);
  // Where the first digit stands, in powers of ten of a nano. Beyond these bounds the value is the greatest or the
  // smallest there is, and 10n ** huge would take all memory.
  const size = all.length - fraction.length + power + 9;
  if (size > 60) return MAX_NANO;
  if (size < -60) return 1n;
  // Of what lies further behind only counts whether it is nothing, since all is rounded away from zero.
  const rest = /[1-9]/.test(all.slice(MOST_DIGITS)) ? '1' : '0';
  const digits = all.length > MOST_DIGITS ? all.slice(0, MOST_DIGITS) + rest : all;
  const exponent = size - digits.length;
  const shifted = BigInt(digits) << shift;
  return exponent >= 0 ? shifted * 10n ** BigInt(exponent) : awayFromZero(shifted, 10n ** BigInt(-exponent));
}

/** Value of a quantity in nano units (10^-9), rounded away from zero and cut at +-(2^63-1); undefined when it is none. */
export function parseQuantity(q: string): bigint | undefined {
  const match = SHAPE.exec(q);
  if (!match) return undefined;
  const nano = scale(match[2] ?? '0', match[3] ?? '');
  const cut = nano > MAX_NANO ? MAX_NANO : nano;
  return match[1] === '-' ? -cut : cut;
}

/** Is it a quantity at all? */
export function isQuantity(q: string): boolean {
  return SHAPE.test(q);
}

/**
 * Is it kept as a whole number (`Quantity.AsInt64` of the Go type)? It goes by how it is written: `1500m` and `1.0` are not, nor is `1.5Mi`, which
 * are so many bytes without a fraction; `1.5k` is.
 */
export function isWholeQuantity(q: string): boolean {
  const match = SHAPE.exec(q);
  if (!match) return false;
  const [, , number = '', suffix = ''] = match;
  const fraction = number.split('.')[1]?.length ?? 0;
  return fraction <= powerOf(suffix);
}

function need(q: string): bigint {
  const nano = parseQuantity(q);
  if (nano === undefined) throw new RangeError(`not a quantity: ${JSON.stringify(q)}`);
  return nano;
}

/** CPU in thousandths of a core, rounded up (`Quantity.MilliValue`). Throws RangeError when `q` is no quantity. */
export function parseCpuMilli(q: string): number {
  return Number(ceilDiv(need(q), 1_000_000n));
}

/** Whole units - bytes of memory and storage, counts - rounded up (`Quantity.Value`). Throws RangeError when `q` is no quantity. */
export function parseBytes(q: string): number {
  return Number(ceilDiv(need(q), NANO));
}

/** Compares two quantities: negative, zero or positive. Throws RangeError when one is no quantity. */
export function compareQuantities(a: string, b: string): number {
  const difference = need(a) - need(b);
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Format a quantity is written in. */
export function quantityFormat(q: string): QuantityFormat {
  if (/[KMGTPE]i$/.test(q)) return 'BinarySI';
  return /[eE][+-]?\d/.test(q) ? 'DecimalExponent' : 'DecimalSI';
}

/** Sum of quantities in the format of the first, canonical; '0' for none. Throws RangeError when one is no quantity. */
export function addQuantities(quantities: readonly string[]): string {
  const sum = quantities.reduce((total, q) => total + need(q), 0n);
  return formatQuantity(sum, quantityFormat(quantities[0] ?? '0'));
}

/** Canonical form (`Quantity.String`): no fraction, greatest suffix that keeps it whole. `1000m` -> `1`, `0.5Gi` -> `512Mi`. */
export function canonicalQuantity(q: string): string {
  return formatQuantity(need(q), quantityFormat(q));
}

/** Bytes as a quantity. */
export function bytesText(bytes: number): string {
  return formatQuantity(BigInt(bytes) * NANO, 'BinarySI');
}

/** Writes nano units canonically in a format. */
export function formatQuantity(nano: bigint, format: QuantityFormat): string {
  if (nano === 0n) return '0';
  const sign = nano < 0n ? '-' : '';
  const size = nano < 0n ? -nano : nano;
  if (format === 'BinarySI' && size >= 1024n * NANO && size % NANO === 0n) {
    let mantissa = size / NANO;
    let step = 0;
    while (step < 6 && mantissa % 1024n === 0n) {
      mantissa /= 1024n;
      step++;
    }
    return `${sign}${mantissa}${['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'][step]}`;
  }
  let mantissa = size;
  let exponent = -9;
  while (exponent < 18 && mantissa % 1000n === 0n) {
    mantissa /= 1000n;
    exponent += 3;
  }
  const suffix = format === 'DecimalExponent' ? (exponent === 0 ? '' : `e${exponent}`) : decimalSuffix(exponent);
  return `${sign}${mantissa}${suffix}`;
}

function decimalSuffix(exponent: number): string {
  return Object.keys(DECIMAL).find((key) => DECIMAL[key] === exponent) ?? '';
}
