import { z } from 'zod';
import { duration, text } from '../field-kinds.ts';

/** Where pods come from, and how often it is looked at. */
export const podSourceFields = {
  staticPodPath: text(),
  staticPodURL: text(),
  staticPodURLHeader: z
    .record(z.string(), z.array(z.string({ error: 'a string' }), { error: 'a list of header values' }), {
      error: 'a map of header names to lists of values',
    })
    .default({}),
  syncFrequency: duration(60_000),
  fileCheckFrequency: duration(20_000),
  httpCheckFrequency: duration(20_000),
};
