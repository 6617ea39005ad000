import { z } from 'zod';
import { durationOrNanoseconds, optionalInt32, quantityOrNumber, text, truth } from '../field-kinds.ts';

const GROUP = 'a group of fields';
const verbosity = () => z.uint32({ error: 'a whole number from 0' }).default(0);
const outputRouting = () =>
  z.strictObject({ splitStream: truth(false), infoBufferSize: quantityOrNumber('0') }, { error: GROUP }).prefault({});

/** Logs, feature gates and traces. */
export const observabilityFields = {
  logging: z
    .strictObject(
      {
        format: z.enum(['text', 'json'], { error: 'one of "text", "json"' }).default('text'),
        flushFrequency: durationOrNanoseconds(5000),
        verbosity: verbosity(),
        vmodule: z
          .array(z.strictObject({ filePattern: text(), verbosity: verbosity() }, { error: 'filePattern, verbosity' }), {
            error: 'a list of entries: filePattern, verbosity',
          })
          .default([]),
        options: z.strictObject({ text: outputRouting(), json: outputRouting() }, { error: GROUP }).prefault({}),
      },
      { error: GROUP },
    )
    .prefault({}),
  featureGates: z
    .record(z.string(), z.boolean({ error: 'true or false' }), { error: 'a map of gate names to true or false' })
    .default({}),
  tracing: z
    .strictObject(
      { endpoint: z.string({ error: 'a string' }).optional(), samplingRatePerMillion: optionalInt32() },
      { error: GROUP },
    )
    .optional(),
};
