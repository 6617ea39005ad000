import type { Effect } from '../../actors/configure/configuration/effects/effect.ts';
import { FIELD_EFFECTS } from '../../actors/configure/configuration/effects/field-effects.ts';
import type { FlagSpec } from './flag-spec.ts';

/** What a flag brings about: that of its field, else what it says itself. */
export function flagEffect(flag: FlagSpec): Effect {
  const own = flag.field === undefined ? undefined : FIELD_EFFECTS[flag.field];
  if (own !== undefined) return own;
  return flag.moot === undefined ? { kind: 'acts', on: flag.usage } : { kind: 'moot', why: flag.moot };
}
