import { z } from 'zod';

const backOff = { delayMs: z.number(), since: z.number() };
const outcome = z.enum(['success', 'failure', 'unknown']);
const amounts = z.record(z.string(), z.string());
const requirements = z.looseObject({ requests: amounts.optional(), limits: amounts.optional() });

/** `PodMemory` as it must be read back: fields that it lacks may be anything. */
export const podMemory = z.looseObject({
  startedAt: z.number().optional(),
  termination: z
    .looseObject({
      reason: z.string(),
      message: z.string(),
      since: z.number(),
      graceSeconds: z.number(),
      deletedFromSource: z.boolean(),
      phase: z.literal('Failed').nullable(),
    })
    .optional(),
  containers: z.record(
    z.string(),
    z.looseObject({
      backOff: z.looseObject({ ...backOff, hash: z.string() }).optional(),
      imageBackOff: z.looseObject({ ...backOff, error: z.string() }).optional(),
      preStopDone: z.string().optional(),
    }),
  ),
  probes: z.record(
    z.string(),
    z.looseObject({
      containerId: z.string(),
      result: outcome,
      run: z.number(),
      outcome,
      nextAt: z.number().optional(),
    }),
  ),
  messages: z.record(z.string(), z.string()),
  resize: z
    .looseObject({
      generation: z.number(),
      since: z.number(),
      error: z.string(),
      actuated: z.record(z.string(), requirements),
      podLevel: requirements.optional(),
    })
    .optional(),
});
