import { isObject } from '../../../machines/values/json-object.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { AnyJournaled, Message } from '../machines/journaled-machine.ts';
import { JOURNALED } from '../machines/registry.ts';

/** Version of the journal format; see docs/journal.md. */
export const JOURNAL_VERSION = 1;

/** A line of a journal, read. */
export type JournalRecord =
  /** First record of each segment: who wrote it, and of a single machine its place, of pods all that they know of their node. */
  | {
      t: 'segment';
      machine: AnyJournaled;
      version: number;
      at: number;
      seq: number;
      shard: number;
      settings: NodeSettings | null;
      head: Record<string, unknown>;
    }
  /** A pod's spec, once for each content; other records refer to it by `id`. */
  | { t: 'spec'; id: string; pod: Pod }
  /** A pod's place at the start of a segment (or a part of a single machine's), so that each segment can be read alone. */
  | { t: 'snap'; machine: AnyJournaled; key: string; row: Record<string, unknown> }
  /** A message, written before it is handled. */
  | { t: 'msg'; machine: AnyJournaled; n: number; key: string; raw: Message }
  /** What handling it came to. */
  | { t: 'step'; machine: AnyJournaled; n: number; key: string; state: string; outputs: unknown[] }
  /** The machine threw: the message changed nothing. */
  | { t: 'fault'; machine: AnyJournaled; n: number; key: string; error: string }
  /** Of a kind that a later version has added. */
  | { t: 'unknown'; kind: string };

type Sort = 'segment' | 'snap' | 'msg' | 'step' | 'fault';
const SORTS: readonly Sort[] = ['segment', 'snap', 'msg', 'step', 'fault'];

/** The kind of a machine's records of this sort: `sup.msg`; of pods `msg`. */
export function kindOf({ prefix }: AnyJournaled, sort: Sort): string {
  return prefix === '' ? sort : `${prefix}.${sort}`;
}

/** The kinds of records of these machines. */
export type Kinds = ReadonlyMap<string, { machine: AnyJournaled; sort: Sort }>;

/** All kinds of records that these machines have. */
export function kindsOf(machines: readonly AnyJournaled[]): Kinds {
  return new Map(machines.flatMap((machine) => SORTS.map((sort) => [kindOf(machine, sort), { machine, sort }])));
}

const KINDS = kindsOf(JOURNALED);

// --- writing ---

/** What a segment begins with. @param place of a single machine its place, without what `snap` records have */
export function segmentText(
  machine: AnyJournaled,
  { at, seq, agent, shard, ...about }: { at: number; seq: number; agent: string; shard?: number },
  place: object,
): string {
  const r = kindOf(machine, 'segment');
  const who = { v: JOURNAL_VERSION, at, ...(shard !== undefined && { shard }), seq, agent };
  return `${JSON.stringify({ r, ...who, ...about, ...place })}\n`;
}

/** A piece of a place. */
export function snapText(machine: AnyJournaled, key: string, row: object): string {
  return `${JSON.stringify({ r: kindOf(machine, 'snap'), ...(machine.many && { uid: key }), ...row })}\n`;
}

function headOf(machine: AnyJournaled, sort: Sort, n: number, key: string): string {
  return machine.many
    ? `{"r":"${kindOf(machine, sort)}","n":${n},"uid":${JSON.stringify(key)},`
    : `{"r":"${kindOf(machine, sort)}","n":${n},`;
}

/** A message. @param packed as `packMessage` gives it */
export function messageText(machine: AnyJournaled, n: number, key: string, packed: unknown): string {
  return `${headOf(machine, 'msg', n, key)}"m":${JSON.stringify(packed)}}\n`;
}

/** What a step came to. @param packed as `packOutputs` gives them */
export function stepText(
  machine: AnyJournaled,
  n: number,
  key: string,
  state: string,
  packed: readonly unknown[],
): string {
  const { field } = machine.output;
  return `${headOf(machine, 'step', n, key)}"s":${JSON.stringify(state)},"${field}":${machine.outputsText(packed)}}\n`;
}

/** That the machine threw. */
export function faultText(machine: AnyJournaled, n: number, key: string, error: string): string {
  return `${headOf(machine, 'fault', n, key)}"error":${JSON.stringify(error)}}\n`;
}

/** Whether a line (without its end) is the {@link stepText} of this outcome: without making that text. */
export function isStepText(
  line: string,
  machine: AnyJournaled,
  { n, key, state, packed }: { n: number; key: string; state: string; packed: readonly unknown[] },
): boolean {
  const head = `${headOf(machine, 'step', n, key)}"s":"${state}","${machine.output.field}":`;
  const end = line.length - 1;
  return line.startsWith(head) && line.endsWith('}') && machine.isOutputsText(packed, line, head.length, end);
}

// --- reading ---

/** Why a line is no record: the field, and what it is not. */
export class BadRecord extends Error {}

/** The record that a line's JSON is. Throws {@link BadRecord}. Fields that are not known are left alone. */
export function recordOf(raw: unknown, kinds: Kinds = KINDS): JournalRecord {
  if (!isObject(raw)) throw new BadRecord('not an object');
  const { r } = raw;
  const kind = typeof r === 'string' ? kinds.get(r) : undefined;
  if (kind === undefined) return r === 'spec' ? specOf(raw) : unknownOf(r);
  const { machine, sort } = kind;
  const key = machine.many && sort !== 'segment' ? text(raw, 'uid') : '';
  switch (sort) {
    case 'msg': {
      const m = object(raw, 'm');
      if (typeof m['type'] !== 'string') throw new BadRecord('m.type: no text');
      if (!Number.isFinite(m['at'])) throw new BadRecord('m.at: no number');
      return { t: sort, machine, n: number(raw, 'n'), key, raw: m as unknown as Message };
    }
    case 'step': {
      const { field } = machine.output;
      const outputs = raw[field];
      if (!Array.isArray(outputs)) throw new BadRecord(`${field}: no list`);
      return { t: sort, machine, n: number(raw, 'n'), key, state: text(raw, 's'), outputs };
    }
    case 'fault':
      return { t: sort, machine, n: number(raw, 'n'), key, error: text(raw, 'error') };
    case 'snap':
      if (machine.many) {
        text(raw, 'spec');
        text(raw, 'source');
        object(raw, 'context');
      } else object(raw, 't');
      return { t: sort, machine, key, row: raw };
    case 'segment':
      return segmentOf(machine, raw);
  }
}

function segmentOf(machine: AnyJournaled, raw: Record<string, unknown>): JournalRecord {
  text(raw, 'agent');
  const [shard, settings] = machine.many
    ? [number(raw, 'shard'), object(raw, 'settings') as unknown as NodeSettings]
    : [0, null];
  if (!machine.many) object(raw, 'context');
  const base = { version: number(raw, 'v'), at: number(raw, 'at'), seq: number(raw, 'seq') };
  return { t: 'segment', machine, ...base, shard, settings, head: raw };
}

function specOf(raw: Record<string, unknown>): JournalRecord {
  return { t: 'spec', id: text(raw, 'id'), pod: object(raw, 'pod') as unknown as Pod };
}

/** A later version may add kinds within format version 1; a name of letters and dots is one, anything else is damage. */
function unknownOf(r: unknown): JournalRecord {
  if (typeof r === 'string' && /^[a-z][A-Za-z.]*$/.test(r)) return { t: 'unknown', kind: r };
  throw new BadRecord('r: no kind of record');
}

function number(raw: Record<string, unknown>, field: string): number {
  const value = raw[field];
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new BadRecord(`${field}: no number`);
  return value;
}

function text(raw: Record<string, unknown>, field: string): string {
  const value = raw[field];
  if (typeof value !== 'string') throw new BadRecord(`${field}: no text`);
  return value;
}

function object(raw: Record<string, unknown>, field: string): Record<string, unknown> {
  const value = raw[field];
  if (!isObject(value)) throw new BadRecord(`${field}: no object`);
  return value;
}
