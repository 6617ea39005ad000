import type { EffectLine, StepLine, StepPage } from './inspector-api.ts';
import type { JournalIndex } from './journal-index.ts';
import type { PodEntry } from './pod-entry.ts';
import { visibleSteps } from './pod-entry.ts';
import { isObject } from '../../../machines/values/json-object.ts';
import type { HeadEffect } from '../../record/journal/record-head.ts';
import type { LineReading } from './segment-store.ts';
import { plainWords } from './single-words.ts';
import type { StepRow } from './step-table.ts';
import { effectLane, effectWords, errorWords, messageLane, messageWords } from './step-words.ts';

/** Most steps of one answer, and most bytes of journal that are parsed for it: messages may be of 1 MB. */
export const MAX_STEPS = 2_000;
const MAX_PARSED = 24 << 20;

/** A step as it stands in the journal. */
export interface RecordedStep {
  message: Record<string, unknown>;
  effects: HeadEffect[];
  /** Why the machine threw; '' when it did not. */
  fault: string;
}

/**
 * Part of a pod's steps, from `from` on. May be fewer than `limit` when their messages are very large; at least one.
 * Steps whose segment is gone are left out: {@link StepPage.first} says where those that are left begin.
 */
export function stepPage(index: JournalIndex, entry: PodEntry, from: number, limit: number): StepPage {
  const total = visibleSteps(entry);
  const { first } = entry.steps;
  const steps: StepLine[] = [];
  const reading = index.store.reading();
  let bytes = 0;
  try {
    for (let i = Math.max(from, first); i < Math.min(total, from + Math.min(limit, MAX_STEPS)); i++) {
      const row = entry.steps.row(i);
      if (row === undefined) break;
      bytes += row.message.bytes + (row.outcome?.bytes ?? 0);
      if (bytes > MAX_PARSED && steps.length > 0) break;
      const recorded = recordedStep(reading, row);
      if (recorded !== null) steps.push(stepLine(index, entry, i, row, recorded));
    }
  } finally {
    reading.close();
  }
  return { uid: entry.line.uid, total, first, steps };
}

/** Reads a step from disk; null when it is gone or damaged. */
export function recordedStep(reading: LineReading, row: StepRow): RecordedStep | null {
  const message = parsed(reading.line(row.message))?.['m'];
  if (!isObject(message)) return null;
  const outcome = row.outcome === null ? null : parsed(reading.line(row.outcome));
  const effects = Array.isArray(outcome?.['e']) ? (outcome['e'] as HeadEffect[]) : ordersOf(outcome?.['o']);
  return { message, effects, fault: row.threw ? String(outcome?.['error'] ?? '') : '' };
}

/** A single machine's orders in the form of effects. */
function ordersOf(orders: unknown): HeadEffect[] {
  if (!Array.isArray(orders)) return [];
  return orders.filter(isObject).map(({ type, ...params }) => ({ type: String(type), key: '', params }));
}

/** A step as the page lists it. */
export function stepLine(
  index: JournalIndex,
  entry: PodEntry,
  i: number,
  row: StepRow,
  { message, effects, fault }: RecordedStep,
): StepLine {
  const { steps, line } = entry;
  const answeredBy = steps.answersTo(i);
  const source = typeof message['source'] === 'string' ? message['source'] : line.source;
  const single = line.source === 'machine';
  const podName = (id: string): string => {
    const facts = index.singleSpecs.get(id);
    return facts === undefined ? '' : `${facts.namespace}/${facts.name}`;
  };
  const issuer = row.issuer < 0 ? undefined : steps.row(row.issuer);
  return {
    index: i,
    at: row.at,
    message: String(message['type']),
    from: messageLane(message, source),
    summary: single ? plainWords(message, podName) : messageWords(message),
    before: index.states.name(steps.stateBefore(i)),
    after: index.states.name(row.state),
    effects: effects.map(({ type, key, params }, position): EffectLine => {
      const answer = answeredBy.get(position);
      return {
        ...{ type, key, to: effectLane(type) },
        summary: single ? plainWords(params, podName) : effectWords(type, key, params),
        ...(answer !== undefined && { answeredBy: answer }),
      };
    }),
    ...(issuer !== undefined && {
      answers: {
        ...{ index: row.issuer, key: String(message['key']), ms: row.at - issuer.at },
        failed: message['type'] === 'effect.failed',
        error: errorWords(message['error']),
      },
    }),
    ...(fault !== '' && { fault }),
    ...(row.outcome === null && { unanswered: true }),
  };
}

/** A line as an object; null when it is no JSON, which a flipped byte can make of it. */
export function parsed(line: Buffer | null): Record<string, unknown> | null {
  if (line === null) return null;
  try {
    const value: unknown = JSON.parse(line.toString('utf8'));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
