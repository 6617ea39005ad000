/** A number as Go's `strconv.ParseInt` reads it with base 0: digits by their prefix, with single underscores between them. */
const INTEGER = /^([+-]?)(0x(?:_?[0-9a-f])+|0b(?:_?[01])+|0o?(?:_?[0-7])+|[1-9](?:_?\d)*|0)$/i;

/** Reads it; undefined for what is no whole number, or none that is exact here. `010` is 8, as for all flags of pflag. */
export function goInteger(text: string): number | undefined {
  const [, sign = '', digits] = INTEGER.exec(text) ?? [];
  if (digits === undefined) return undefined;
  const bare = digits.replaceAll('_', '');
  const value = Number(/^0\d/.test(bare) ? `0o${bare.slice(1)}` : bare);
  if (!Number.isSafeInteger(value)) return undefined;
  return sign === '-' ? 0 - value : value;
}
