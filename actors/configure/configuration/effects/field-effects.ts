import type { Effect } from './effect.ts';
import { nodeEffects } from './node-effects.ts';
import { podEffects } from './pod-effects.ts';
import { serverEffects } from './server-effects.ts';

/**
 * What each field of KubeletConfiguration brings about, by its dotted path; lists count as one field. A test holds this
 * against the schema, and against the places in the code that read each field. docs/configuration.md shows it.
 */
export const FIELD_EFFECTS: Readonly<Record<string, Effect>> = { ...podEffects, ...nodeEffects, ...serverEffects };

/** A warning for each field that was set and is not built yet. `of` names who set a path; `defaults` is nobody. */
export function unbuiltFields(of: (path: string) => string): string[] {
  return Object.entries(FIELD_EFFECTS).flatMap(([field, effect]) => {
    const where = of(field);
    if (effect.kind !== 'unbuilt' || where === 'defaults') return [];
    return [`${where}: ${field} is accepted; what it asks for is not built yet: ${effect.why}`];
  });
}
