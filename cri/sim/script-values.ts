import { status } from '@grpc/grpc-js';
import { z } from 'zod';
import { parseGoDuration } from '../../machines/values/go-duration.ts';

/** Milliseconds as a number, or a text as `250ms`, `1.5s`, `1m30s`. Comes out as milliseconds. */
export const durationSchema = z
  .union([z.number(), z.string()])
  .transform((value) => (typeof value === 'number' ? value : (parseGoDuration(value) ?? -1)))
  .refine((ms) => ms >= 0, 'must be milliseconds or a text as 250ms, 1.5s, 2m');

/** One duration, or `[least, most]` from which the seed draws. */
export const rangeSchema = z
  .union([durationSchema, z.tuple([durationSchema, durationSchema])])
  .transform((value) => (typeof value === 'number' ? { min: value, max: value } : { min: value[0], max: value[1] }))
  .refine((range) => range.min <= range.max, 'the first value must not be above the second');

/** One glob or a list of them; comes out as a list. */
export const globsSchema = z
  .union([z.string(), z.array(z.string()).min(1)])
  .transform((value) => (typeof value === 'string' ? [value] : value));

/** gRPC status names as Go spells them, with their numbers. */
export const GRPC_CODES: Record<string, status> = {
  Canceled: status.CANCELLED,
  Unknown: status.UNKNOWN,
  InvalidArgument: status.INVALID_ARGUMENT,
  DeadlineExceeded: status.DEADLINE_EXCEEDED,
  NotFound: status.NOT_FOUND,
  AlreadyExists: status.ALREADY_EXISTS,
  PermissionDenied: status.PERMISSION_DENIED,
  ResourceExhausted: status.RESOURCE_EXHAUSTED,
  FailedPrecondition: status.FAILED_PRECONDITION,
  Aborted: status.ABORTED,
  OutOfRange: status.OUT_OF_RANGE,
  Unimplemented: status.UNIMPLEMENTED,
  Internal: status.INTERNAL,
  Unavailable: status.UNAVAILABLE,
  DataLoss: status.DATA_LOSS,
  Unauthenticated: status.UNAUTHENTICATED,
};

/** A gRPC error: code by its Go name, and the text the client sees. */
export const failureSchema = z.strictObject({
  code: z.enum(Object.keys(GRPC_CODES)).default('Unknown'),
  message: z.string().default('simulated failure'),
});

/** A stretch of time since the start of the simulated runtime; without `for` it never ends. */
export const windowSchema = z.strictObject({ from: durationSchema.default(0), for: durationSchema.optional() });
