import type { Effect } from './effect.ts';
import { nodeEffects } from './node-effects.ts';
import { podEffects } from './pod-effects.ts';
import { serverEffects } from './server-effects.ts';

/**
 * What each field of KubeletConfiguration brings about, by its dotted path; lists count as one field. A test holds this
 * against the schema, and against the places in the code that read each field. docs/configuration.md shows it.
 */
export const FIELD_EFFECTS: Readonly<Record<string, Effect>> = { ...podEffects, ...nodeEffects, ...serverEffects };
