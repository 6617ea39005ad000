import { z } from 'zod';
import { compareQuantities, isQuantity, parseQuantity } from '../../../../machines/values/quantity.ts';

/** Values of a policy (resource.k8s.io/v1 CapacityRequestPolicyDiscreteMaxOptions). */
const MOST_VALUES = 10;

/** A quantity as the API has it, from a text or a number. */
export const amountSchema = z
  .union([z.string(), z.number()])
  .transform(String)
  .refine(isQuantity, { error: 'must be a quantity as 80Gi', abort: true });

const rangeSchema = z.strictObject({
  min: amountSchema,
  max: amountSchema.optional(),
  step: amountSchema.refine((step) => units(step) > 0n, 'must be above 0').optional(),
});

/** resource.k8s.io/v1 CapacityRequestPolicy: how much of a capacity a claim takes of a device that several may have. */
const policySchema = z
  .strictObject({
    default: amountSchema.optional(),
    validValues: z.array(amountSchema).min(1).max(MOST_VALUES, `must be at most ${MOST_VALUES}`).optional(),
    validRange: rangeSchema.optional(),
  })
  .refine(
    ({ validValues, validRange }) => validValues === undefined || validRange === undefined,
    'must have one of `validValues` and `validRange` at the most',
  );

/** An amount, alone or with how it is given away in parts. Comes out as resource.k8s.io/v1 DeviceCapacity. */
export const capacitySchema = z
  .union(
    [
      amountSchema.transform((value) => ({ value })),
      z.strictObject({ value: amountSchema, requestPolicy: policySchema }),
    ],
    {
      error: 'must be a quantity as 80Gi, or { value, requestPolicy }',
    },
  )
  .superRefine((capacity, { addIssue }) => {
    if (!('requestPolicy' in capacity)) return;
    for (const [field, message] of policyProblems(capacity.value, capacity.requestPolicy))
      addIssue({ code: 'custom', path: ['requestPolicy', ...field.split('.')], message });
  });

/** How much a device has of something. */
export type DeviceCapacity = z.output<typeof capacitySchema>;
type Policy = z.output<typeof policySchema>;

/** What the API server refuses (its validateRequestPolicy), by field. */
function* policyProblems(value: string, policy: Policy): Generator<[field: string, problem: string]> {
  const { default: usual, validValues, validRange } = policy;
  if (validValues === undefined && validRange === undefined) return;
  if (usual === undefined) {
    yield ['default', `is needed with \`${validValues === undefined ? 'validRange' : 'validValues'}\``];
    return;
  }
  if (validValues !== undefined) {
    const rising = validValues.every((one, i) => i === 0 || compareQuantities(validValues[i - 1] ?? one, one) < 0);
    if (!rising) yield ['validValues', 'must rise, each value once'];
    if (validValues.some((one) => compareQuantities(one, value) > 0))
      yield ['validValues', `must not be above the capacity's value ${value}`];
    if (!validValues.some((one) => compareQuantities(one, usual) === 0))
      yield ['default', 'must be one of `validValues`'];
  }
  if (validRange !== undefined) yield* rangeProblems(value, usual, validRange);
}

function* rangeProblems(
  value: string,
  usual: string,
  { min, max, step }: z.output<typeof rangeSchema>,
): Generator<[field: string, problem: string]> {
  const most = max ?? value;
  if (compareQuantities(most, value) > 0) yield ['validRange.max', `must not be above the capacity's value ${value}`];
  if (compareQuantities(min, most) > 0) yield ['validRange.min', `must not be above ${most}`];
  if (compareQuantities(usual, min) < 0 || (max !== undefined && compareQuantities(usual, max) > 0))
    yield ['default', 'must lie in `validRange`'];
  if (step === undefined) return;
  if (units(min) + units(step) > units(value)) yield ['validRange.step', `must leave room for one step up to ${value}`];
  if ((units(usual) - units(min)) % units(step) !== 0n) yield ['default', 'must be so many steps above `min`'];
  if ((units(most) - units(min)) % units(step) !== 0n && max !== undefined)
    yield ['validRange.max', 'must be so many steps above `min`'];
}

/** In nano units. */
function units(amount: string): bigint {
  return parseQuantity(amount) ?? 0n;
}
