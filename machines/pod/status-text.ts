import type { PodStatus } from '../protocol/api-types.ts';
import type { Effect } from '../protocol/effects.ts';
import { notesOf } from './status-notes.ts';

/** The status as JSON: written for the fingerprint of a report and again for the journal, made once for both. */
export function statusText(status: PodStatus): string {
  const notes = notesOf(status);
  return (notes.text ??= JSON.stringify(status));
}

const PUBLISH = '{"type":"status.Publish","key":"","params":{"status":';

/** What follows the status in the JSON of a `status.Publish`. */
function publishRest({ status, state, why, memory }: Extract<Effect, { type: 'status.Publish' }>['params']): string {
  const known = notesOf(status).print;
  const memoryText = known?.memory === memory ? known.memoryText : JSON.stringify(memory);
  return `,"state":${JSON.stringify(state)},"why":${JSON.stringify(why)},"memory":${memoryText}}}`;
}

/** A report as report.ts makes it: status, state, reason and memory, in this order. */
function isReport(effect: Effect): effect is Extract<Effect, { type: 'status.Publish' }> {
  return effect.type === 'status.Publish' && notesOf(effect.params.status).print !== null;
}

/** An effect as JSON, byte for byte as `JSON.stringify` writes it. */
export function effectText(effect: Effect): string {
  if (!isReport(effect)) return JSON.stringify(effect);
  return PUBLISH + statusText(effect.params.status) + publishRest(effect.params);
}

/** Effects as a JSON list. */
export function effectsText(effects: readonly Effect[]): string {
  let text = '[';
  for (const effect of effects) text += text.length === 1 ? effectText(effect) : `,${effectText(effect)}`;
  return `${text}]`;
}

/** Whether `text`, from `start` to `end`, is {@link effectsText} of the effects: without making that text. */
export function isEffectsText(effects: readonly Effect[], text: string, start: number, end: number): boolean {
  let at = start;
  const next = (piece: string) => {
    const from = at;
    at += piece.length;
    // Faster by far than startsWith, which compares unit by unit.
    return text.slice(from, at) === piece;
  };
  for (const effect of effects) {
    if (!next(at === start ? '[' : ',')) return false;
    if (!isReport(effect)) {
      if (!next(JSON.stringify(effect))) return false;
    } else if (!next(PUBLISH) || !next(statusText(effect.params.status)) || !next(publishRest(effect.params))) {
      return false;
    }
  }
  return next(effects.length === 0 ? '[]' : ']') && at === end;
}
