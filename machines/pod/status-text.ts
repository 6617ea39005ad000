import type { PodStatus } from '../protocol/api-types.ts';
import type { Effect } from '../protocol/effects.ts';

/** A status is written as JSON for the fingerprint of a report and again for the journal: made once for both. */
const TEXTS = new WeakMap<PodStatus, string>();

/** The status as JSON. Statuses are never changed in place. */
export function statusText(status: PodStatus): string {
  let text = TEXTS.get(status);
  if (text === undefined) TEXTS.set(status, (text = JSON.stringify(status)));
  return text;
}

/** An effect as JSON, byte for byte as `JSON.stringify` writes it. */
export function effectText(effect: Effect): string {
  if (effect.type !== 'status.Publish' || !TEXTS.has(effect.params.status)) return JSON.stringify(effect);
  const { status, state, why, memory } = effect.params;
  const rest = `"state":${JSON.stringify(state)},"why":${JSON.stringify(why)},"memory":${JSON.stringify(memory)}`;
  return `{"type":"status.Publish","key":"","params":{"status":${statusText(status)},${rest}}}`;
}

/** Effects as a JSON list. */
export function effectsText(effects: readonly Effect[]): string {
  let text = '[';
  for (const effect of effects) text += text.length === 1 ? effectText(effect) : `,${effectText(effect)}`;
  return `${text}]`;
}
