import { z } from 'zod';
import { labelValue, qualifiedName } from '../../../../machines/pod-validation/names.ts';

/** Taints of one device (resource.k8s.io/v1 DeviceTaintsMaxLength). */
export const MOST_TAINTS = 16;

/** resource.k8s.io/v1 DeviceTaint, but for when it was added, which the driver says. */
export const deviceTaintSchema = z.strictObject({
  key: z.string().refine((key) => qualifiedName(key).length === 0, 'must be a label name as example.com/broken'),
  value: z
    .string()
    .refine((value) => labelValue(value).length === 0, 'must be a label value: letters, digits, "-", "_" and "."')
    .optional(),
  effect: z.enum(['None', 'NoSchedule', 'NoExecute'], 'must be None, NoSchedule or NoExecute'),
});

/** Why claims should not have a device. */
export type DeviceTaintRule = z.output<typeof deviceTaintSchema>;

/** Two of the same text are the same taint. */
export function taintText({ key, value = '', effect }: DeviceTaintRule): string {
  return `${key}=${value}:${effect}`;
}
