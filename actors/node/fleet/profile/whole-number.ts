import { z } from 'zod';

/** A whole number from `least` to `most`; the message names both. */
export const wholeNumber = (least: number, most: number) =>
  z.int(`must be a whole number from ${least} to ${most}`).refine((number) => number >= least && number <= most, {
    error: `must be a whole number from ${least} to ${most}`,
  });
