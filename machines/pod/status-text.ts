import type { PodStatus } from '../protocol/api-types.ts';
import type { Effect } from '../protocol/effects.ts';
import type { PodMemory } from '../protocol/memory.ts';
import { notesOf } from './status-notes.ts';

/** What was written last. No pod keeps its texts: they are twice as large as what they tell. */
const written = { status: newest<PodStatus>(), memory: newest<PodMemory>() };

/** The status as JSON: written for the fingerprint of a report and again right after it for the journal, made once for both. */
export function statusText(status: PodStatus): string {
  return written.status(status);
}

/** The memory of a report as JSON, made once as {@link statusText}. */
export function memoryText(memory: PodMemory): string {
  return written.memory(memory);
}

/** JSON of objects that are never changed in place; that of the last one is at hand. */
function newest<T extends object>(): (value: T) => string {
  let last: { value: T; text: string } | null = null;
  return (value) => {
    if (last === null || last.value !== value) last = { value, text: JSON.stringify(value) };
    return last.text;
  };
}

const PUBLISH = '{"type":"status.Publish","key":"","params":{"status":';

/** What follows the status in the JSON of a `status.Publish`. */
function publishRest({ state, why, memory }: Extract<Effect, { type: 'status.Publish' }>['params']): string {
  return `,"state":${JSON.stringify(state)},"why":${JSON.stringify(why)},"memory":${memoryText(memory)}}}`;
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
