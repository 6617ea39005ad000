import type { EffectLine, Lane, StepLine } from '../../inspector/inspector-api.ts';
import { hasFailed } from './lanes.ts';

/** Height of one arrow of the sequence diagram, px. */
export const ARROW_HEIGHT = 20;
/** Space around the arrows of one step, px. */
export const STEP_PADDING = 8;

/** One arrow of a step. */
export interface Arrow {
  from: Lane;
  to: Lane;
  text: string;
  kind: 'message' | 'answer' | 'effect';
  failed: boolean;
  /** How long the effect took, ms; undefined while it has no outcome, or for a message. */
  ms?: number;
  /** Step at the other end of an effect: where it was asked for, or where it was answered. */
  other?: number;
  key: string;
}

/** Arrows of a step from top to bottom: what came in, then what the pod asks for. */
export function arrowsOf(step: StepLine, at: (index: number) => StepLine | undefined): Arrow[] {
  const arrows: Arrow[] = [
    {
      from: step.from,
      to: 'pod',
      text: step.summary === '' ? step.message : step.summary,
      kind: step.answers === undefined ? 'message' : 'answer',
      failed: hasFailed(step),
      key: step.answers?.key ?? '',
      ...(step.answers === undefined ? {} : { ms: step.answers.ms, other: step.answers.index }),
    },
  ];
  for (const effect of step.effects) arrows.push(arrowOf(step, effect, at));
  return arrows;
}

function arrowOf(step: StepLine, effect: EffectLine, at: (index: number) => StepLine | undefined): Arrow {
  const answer = effect.answeredBy === undefined ? undefined : at(effect.answeredBy);
  return {
    from: 'pod',
    to: effect.to,
    text: `${effect.type.slice(effect.type.indexOf('.') + 1)} ${effect.summary}`.trim(),
    kind: 'effect',
    failed: answer?.answers?.failed === true,
    key: effect.key,
    ...(effect.answeredBy === undefined ? {} : { other: effect.answeredBy }),
    ...(answer === undefined ? {} : { ms: answer.answers?.ms ?? answer.at - step.at }),
  };
}

/** Height of a step in the sequence diagram, px. */
export function heightOf(step: StepLine): number {
  return STEP_PADDING + ARROW_HEIGHT * (1 + step.effects.length);
}

/** A lane that works on something from one step to another; `to` is Infinity while there is no outcome. */
export interface Activation {
  lane: Lane;
  from: number;
  /** Number of the arrow within step `from` at which it begins. */
  arrow: number;
  to: number;
  failed: boolean;
}

/** Steps to look back for effects that are still under way. */
const LOOK_BACK = 300;

/** What each lane works on while steps `start` to before `end` are in view. */
export function activations(start: number, end: number, at: (index: number) => StepLine | undefined): Activation[] {
  const found: Activation[] = [];
  for (let i = Math.max(0, start - LOOK_BACK); i < end; i++) {
    const step = at(i);
    step?.effects.forEach((effect, n) => {
      if (effect.to === 'pod' || effect.key === '') return;
      const to = effect.answeredBy ?? Infinity;
      if (to < start) return;
      const failed = effect.answeredBy !== undefined && at(effect.answeredBy)?.answers?.failed === true;
      found.push({ lane: effect.to, from: i, arrow: n + 1, to, failed });
    });
  }
  return found;
}
