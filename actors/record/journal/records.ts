import { z } from 'zod';
import { effectsText, isEffectsText } from '../../../machines/pod/status-text.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { SpecReference } from './spec-book.ts';

/** Version of the journal format; see docs/journal.md. */
export const JOURNAL_VERSION = 1;

const uid = z.string();

/** First record of each segment: who wrote it, and all that the machines know of their node. */
const segment = z.looseObject({
  r: z.literal('segment'),
  v: z.number(),
  at: z.number(),
  shard: z.number(),
  seq: z.number(),
  agent: z.string(),
  settings: z.looseObject({}),
});
/** A pod's spec, once for each content; messages refer to it by `id`. */
const spec = z.looseObject({ r: z.literal('spec'), id: z.string(), pod: z.looseObject({}) });
/** A pod's place at the start of a segment, so that each segment can be read alone. */
const snap = z.looseObject({
  r: z.literal('snap'),
  uid,
  spec: z.string(),
  source: z.string(),
  value: z.unknown(),
  context: z.looseObject({}),
});
/** A message, written before it is handled. */
const msg = z.looseObject({
  r: z.literal('msg'),
  n: z.number(),
  uid,
  m: z.looseObject({ type: z.string(), at: z.number() }),
});
/** What handling it came to: state path and effects. */
const step = z.looseObject({ r: z.literal('step'), n: z.number(), uid, s: z.string(), e: z.array(z.unknown()) });
/** The machine threw: the message changed nothing. */
const fault = z.looseObject({ r: z.literal('fault'), n: z.number(), uid, error: z.string() });

const loose = z.looseObject({});
/** First record of each segment of the supervisor: its place, without its pods. */
const supSegment = z.looseObject({
  r: z.literal('sup.segment'),
  v: z.number(),
  at: z.number(),
  seq: z.number(),
  agent: z.string(),
  value: z.unknown(),
  context: z.looseObject({ shards: z.number() }),
});
/** One pod that the supervisor tracks at the start of a segment. */
const supSnap = z.looseObject({ r: z.literal('sup.snap'), t: loose });
/** A message to the supervisor, written before it is handled. */
const supMsg = z.looseObject({
  r: z.literal('sup.msg'),
  n: z.number(),
  m: z.looseObject({ type: z.string(), at: z.number() }),
});
/** What handling it came to: state path and orders. */
const supStep = z.looseObject({ r: z.literal('sup.step'), n: z.number(), s: z.string(), o: z.array(z.unknown()) });
/** The supervisor machine threw: the message changed nothing. */
const supFault = z.looseObject({ r: z.literal('sup.fault'), n: z.number(), error: z.string() });

/** First record of each segment of the node's log: the node machine's place. */
const nodeSegment = z.looseObject({
  r: z.literal('node.segment'),
  v: z.number(),
  at: z.number(),
  seq: z.number(),
  agent: z.string(),
  nodeName: z.string(),
  value: z.unknown(),
  context: loose,
});
/** A message to the node machine, written before it is handled. */
const nodeMsg = z.looseObject({
  r: z.literal('node.msg'),
  n: z.number(),
  m: z.looseObject({ type: z.string(), at: z.number() }),
});
/** What handling it came to: state path and orders. */
const nodeStep = z.looseObject({ r: z.literal('node.step'), n: z.number(), s: z.string(), o: z.array(z.unknown()) });
/** The node machine threw: the message changed nothing. */
const nodeFault = z.looseObject({ r: z.literal('node.fault'), n: z.number(), error: z.string() });

/** Any journal record, as validated when it is read. */
export const journalRecord = z.discriminatedUnion('r', [
  segment,
  spec,
  snap,
  msg,
  step,
  fault,
  supSegment,
  supSnap,
  supMsg,
  supStep,
  supFault,
  nodeSegment,
  nodeMsg,
  nodeStep,
  nodeFault,
]);
/** A record of a kind that a later version has added. */
export interface UnknownRecord {
  r: 'unknown';
  kind: string;
}

/** A validated record. */
export type JournalRecord = z.infer<typeof journalRecord> | UnknownRecord;

const KINDS: ReadonlySet<unknown> = new Set(journalRecord.options.map(({ shape }) => shape.r.value));

/** The kind of a record that is none of ours, but looks like one: a later version may add kinds within format version 1. */
export function unknownKind(raw: unknown): string | null {
  const { r } = (raw ?? {}) as { r?: unknown };
  return typeof r === 'string' && /^[a-z][A-Za-z.]*$/.test(r) && !KINDS.has(r) ? r : null;
}

/** A message as journaled: `pod` of pod.start and pod.update is replaced by `{ $spec: id }`. */
export function messageText(n: number, uid: string, m: Journaled<PodMessage>): string {
  return `${JSON.stringify({ r: 'msg', n, uid, m })}\n`;
}

/** A message with its pod as a reference. */
type Journaled<M> = M extends { pod: unknown } ? Omit<M, 'pod'> & { pod: SpecReference } : M;

/** The outcome of a step as a journal line. */
export function stepText(n: number, uid: string, state: string, effects: Effect[]): string {
  return `{"r":"step","n":${n},"uid":${JSON.stringify(uid)},"s":${JSON.stringify(state)},"e":${effectsText(effects)}}\n`;
}

/** The first of `step` in a line. */
const STEP_UNIT = 0x73;

/** Whether a line (without its end) is the {@link stepText} of this outcome: without making that text. */
export function isStepText(line: string, n: number, uid: string, state: string, effects: readonly Effect[]): boolean {
  // Most other lines are messages: this tells them at once.
  if (line.charCodeAt(6) !== STEP_UNIT) return false;
  const head = `{"r":"step","n":${n},"uid":${JSON.stringify(uid)},"s":"${state}","e":`;
  const end = line.length - 1;
  return line.startsWith(head) && line.endsWith('}') && isEffectsText(effects, line, head.length, end);
}
