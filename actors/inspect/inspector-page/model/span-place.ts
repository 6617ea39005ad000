import type { StateHistory } from '../../inspector/inspector-api.ts';

type Spans = Pick<StateHistory, 'start' | 'width' | 'length'>;

/** The span that a moment lies in; null, the newest, is in the last. */
export function spanAt({ start, width, length }: Spans, at: number | null): number {
  if (at === null) return length - 1;
  return Math.max(0, Math.min(length - 1, Math.floor((at - start) / width)));
}

/** The last moment of a span. */
export function spanEnd({ start, width }: Spans, number: number): number {
  return start + (number + 1) * width - 1;
}

/** Where spans end, as parts (0 to `wide`) of the time from `from` to `to`. */
export function spanEnds({ start, width, length }: Spans, from: number, to: number, wide: number): number[] {
  const whole = Math.max(1, to - from);
  return Array.from({ length }, (_, i) =>
    i === length - 1 ? wide : Math.max(0, Math.min(wide, ((start + (i + 1) * width - from) / whole) * wide)),
  );
}
