import { isObject, textOf } from '../../../machines/values/json-object.ts';
import { SINGLES } from '../machines/registry.ts';
import { kindsOf } from './records.ts';

/** What of a journal line the index needs; the rest stays on disk. */
export type RecordHead =
  | { r: 'segment'; at: number; shard: number; agent: string; settings: unknown }
  | { r: 'spec'; id: string }
  | { r: 'snap'; uid: string }
  | { r: 'msg'; n: number; uid: string; type: string; at: number; key: string; failed: boolean }
  | { r: 'step'; n: number; uid: string; state: string; effects: readonly HeadEffect[] }
  | { r: 'fault'; n: number; uid: string }
  /** A log of a machine that there is one of; its messages and their outcomes have its name as UID ({@link SINGLES}). */
  | { r: 'machine.segment'; uid: string; at: number; agent: string; nodeName: string; head: object }
  | { r: 'machine.snap'; uid: string }
  /** Kinds that a later version may add. */
  | { r: 'other' };

/** An effect as it stands in a `step` record. */
export interface HeadEffect {
  type: string;
  key: string;
  params: Record<string, unknown>;
}

/** Bytes that are looked at before the whole line is parsed: a message of 1 MB need not be. */
const HEAD_BYTES = 640;

// The writer's order of fields (records.ts); a line in another order is parsed whole.
const MSG = /^\{"r":"msg","n":(\d+),"uid":"([\x20\x21\x23-\x5b\x5d-\x7e]*)","m":\{"type":"([\w.]+)","at":(\d+)[,}]/;
const OUTCOME = /^"effect":"([\w.]+)","key":"([\x20\x21\x23-\x5b\x5d-\x7e]*)"/;
const STEP = /^\{"r":"step","n":(\d+),"uid":"([\x20\x21\x23-\x5b\x5d-\x7e]*)","s":"([\w.|]*)","e":\[\]\}$/;
const SPEC = /^\{"r":"spec","id":"([0-9a-f]+)"/;
const SNAP = /^\{"r":"snap","uid":"([\x20\x21\x23-\x5b\x5d-\x7e]*)"/;

const SINGLE_MSG = /^\{"r":"([a-z]+\.msg)","n":(\d+),"m":\{"type":"([\w.]+)","at":(\d+)[,}]/;

/** Kinds of records of single machines, and whose they are. */
const SINGLE_KINDS = new Map(
  [...SINGLES].flatMap(([uid, machine]) => [...kindsOf([machine])].map(([kind, { sort }]) => [kind, { uid, sort }])),
);

/** Reads a line's head. @throws Error when the line is no journal record */
export function recordHead(line: Buffer): RecordHead {
  // A line that is damaged behind its head is still seen as such: its last byte is checked, its whole when it is read.
  if (line[line.length - 1] !== 0x7d) throw new Error('the line is cut or damaged');
  const head = line.toString('latin1', 0, HEAD_BYTES);
  const msg = MSG.exec(head);
  if (msg !== null) {
    const found = msgHead(head, msg);
    if (found !== null) return found;
  }
  if (line.length < HEAD_BYTES) {
    const step = STEP.exec(head);
    if (step !== null) return { r: 'step', n: Number(step[1]), uid: step[2] ?? '', state: step[3] ?? '', effects: [] };
  }
  const spec = SPEC.exec(head);
  if (spec !== null) return { r: 'spec', id: spec[1] ?? '' };
  const snap = SNAP.exec(head);
  if (snap !== null) return { r: 'snap', uid: snap[1] ?? '' };
  const single = SINGLE_MSG.exec(head);
  const uid = single === null ? undefined : SINGLE_KINDS.get(single[1] ?? '')?.uid;
  if (single !== null && uid !== undefined) {
    const [, , n, type = '', at] = single;
    return { r: 'msg', n: Number(n), uid, type, at: Number(at), key: '', failed: false };
  }
  return wholeHead(JSON.parse(line.toString('utf8')) as unknown);
}

function msgHead(head: string, found: RegExpExecArray): RecordHead | null {
  const [matched, n, uid = '', type = '', at] = found;
  const base = { r: 'msg' as const, n: Number(n), uid, type, at: Number(at), key: '', failed: false };
  if (type !== 'effect.done' && type !== 'effect.failed') return base;
  const outcome = OUTCOME.exec(head.slice(matched.length));
  if (outcome === null) return null;
  return { ...base, key: outcome[2] ?? '', failed: type === 'effect.failed' };
}

function wholeHead(record: unknown): RecordHead {
  if (!isObject(record) || typeof record['r'] !== 'string') throw new Error('not a journal record');
  const { r, n, uid } = record;
  switch (r) {
    case 'segment':
      if (typeof record['at'] !== 'number' || !isObject(record['settings'])) throw new Error('not a segment record');
      return {
        r,
        at: record['at'],
        shard: Number(record['shard']),
        agent: textOf(record['agent']),
        settings: record['settings'],
      };
    case 'spec':
      return { r, id: textOf(record['id']) };
    case 'snap':
      return { r, uid: textOf(uid) };
    case 'fault':
      return { r, n: Number(n), uid: textOf(uid) };
    case 'msg': {
      const { m } = record;
      if (!isObject(m) || typeof m['at'] !== 'number') throw new Error('not a message record');
      const type = textOf(m['type']);
      const failed = type === 'effect.failed';
      const key = failed || type === 'effect.done' ? textOf(m['key']) : '';
      return { r, n: Number(n), uid: textOf(uid), type, at: m['at'], key, failed };
    }
    case 'step':
      if (!Array.isArray(record['e'])) throw new Error('not a step record');
      return { r, n: Number(n), uid: textOf(uid), state: textOf(record['s']), effects: record['e'] as HeadEffect[] };
    default: {
      const single = SINGLE_KINDS.get(r);
      return single === undefined ? { r: 'other' } : singleHead(record, single);
    }
  }
}

function singleHead(
  record: Record<string, unknown>,
  { uid, sort }: { uid: string; sort: 'segment' | 'snap' | 'msg' | 'step' | 'fault' },
): RecordHead {
  const n = Number(record['n']);
  switch (sort) {
    case 'segment': {
      const { at, context } = record;
      if (typeof at !== 'number' || !isObject(context)) throw new Error('not a segment record');
      const [agent, nodeName] = [textOf(record['agent']), textOf(record['nodeName'])];
      return { r: 'machine.segment', uid, at, agent, nodeName, head: record };
    }
    case 'snap':
      return { r: 'machine.snap', uid };
    case 'msg': {
      const { m } = record;
      if (!isObject(m) || typeof m['at'] !== 'number') throw new Error('not a message record');
      return { r: 'msg', n, uid, type: textOf(m['type']), at: m['at'], key: '', failed: false };
    }
    case 'step':
      return { r: 'step', n, uid, state: textOf(record['s']), effects: [] };
    case 'fault':
      return { r: 'fault', n, uid };
  }
}
