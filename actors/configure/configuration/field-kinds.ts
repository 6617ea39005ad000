import { z } from 'zod';
import { isQuantity, isWholeQuantity } from '../../../machines/values/quantity.ts';
import { goDuration, parseGoDuration } from '../../../machines/values/go-duration.ts';

/**
 * The kinds of fields of KubeletConfiguration. Each issue's message is the phrase that says what is accepted.
 * Where decoded and written forms differ a codec is used, so that `z.encode` gives the v1beta1 form back.
 */
const DURATION = 'a duration such as "300ms", "20s" or "1h30m"';
const QUANTITY = 'a quantity such as "100Mi", "1Gi" or "500m"';

const durationCodec = z.codec(
  z.string({ error: DURATION }).refine((text) => parseGoDuration(text) !== undefined, { error: DURATION }),
  z.number(),
  { decode: (text) => parseGoDuration(text) ?? 0, encode: goDuration },
);

/** A string. */
export const text = (preset = '') => z.string({ error: 'a string' }).default(preset);
/** true or false. */
export const truth = (preset: boolean) => z.boolean({ error: 'true or false' }).default(preset);
/** true or false; undefined when the field is absent, which means something else than either. */
export const optionalTruth = () => z.boolean({ error: 'true or false' }).optional();
const WHOLE = 'a whole number (32 bits)';
/** A whole number that fits 32 bits. */
export const int32 = (preset: number) => z.int32({ error: WHOLE }).default(preset);
/** Like {@link int32}, undefined when absent. */
export const optionalInt32 = () => z.int32({ error: WHOLE }).optional();
/** A whole number; exact up to 2^53. */
export const int64 = (preset: number) => z.int({ error: 'a whole number' }).default(preset);
/** Like {@link int64}, undefined when absent. */
export const optionalInt64 = () => z.int({ error: 'a whole number' }).optional();
/** A duration in Go's notation, decoded to milliseconds. */
export const duration = (presetMs: number) => durationCodec.default(presetMs);
/** Like {@link duration}, undefined when absent. */
export const optionalDuration = () => durationCodec.optional();
/** A list of strings. */
export const textList = (preset: string[] = []) =>
  z.array(z.string({ error: 'a string' }), { error: 'a list of strings' }).default(preset);
/** A map of strings to strings. */
export const textMap = () =>
  z.record(z.string(), z.string({ error: 'a string' }), { error: 'a map of strings' }).default({});
/** One of the given words. */
export function oneOf<const W extends readonly [string, ...string[]]>(words: W, preset: W[number]) {
  return z
    .enum(words, { error: `one of ${words.map((word) => JSON.stringify(word)).join(', ')}` })
    .default(() => preset);
}

const WHOLE_QUANTITY = 'a quantity without a fraction, as "10Mi" or "1.5M" (not "1.5Mi", not "100m")';
/** A Kubernetes quantity that kubelet takes for an integer (`Quantity.AsInt64`), kept as it is written. */
export const wholeQuantity = (preset: string) =>
  z.string({ error: WHOLE_QUANTITY }).refine(isWholeQuantity, { error: WHOLE_QUANTITY }).default(preset);
const looseQuantity = z.codec(
  z.union([z.string(), z.number()], { error: QUANTITY }).refine((q) => isQuantity(String(q)), { error: QUANTITY }),
  z.string(),
  { decode: String, encode: (q) => q },
);
/** A quantity of a field with the Go type `resource.Quantity`: a bare number is accepted too. */
export const quantityOrNumber = (preset: string) => looseQuantity.default(preset);
/** A map of names to quantities, Go type `v1.ResourceList`. */
export const resourceList = () =>
  z.record(z.string(), looseQuantity, { error: 'a map of resource names to quantities' });
/** A duration that is also accepted as nanoseconds (`logging.flushFrequency`), decoded to milliseconds. */
export const durationOrNanoseconds = (presetMs: number) =>
  z
    .codec(
      z
        .union([z.string(), z.int()], { error: DURATION })
        .refine((value) => typeof value === 'number' || parseGoDuration(value) !== undefined, { error: DURATION }),
      z.number(),
      {
        decode: (value) => (typeof value === 'number' ? value / 1e6 : (parseGoDuration(value) ?? 0)),
        encode: goDuration,
      },
    )
    .default(presetMs);
