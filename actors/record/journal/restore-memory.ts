import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { shapeProblem } from '../../../machines/pod-validation/shape.ts';
import { STATUS_SHAPE } from '../../../machines/pod-validation/status-shape.ts';
import { memoryOf } from '../../../machines/pod/memory-of.ts';
import type { PodContext } from '../../../machines/pod/pod-context.ts';
import { isTerminalPhase } from '../../../machines/status/phase.ts';
import { emptyMemory } from '../../../machines/pod/pod-context.ts';
import type { PodMemory } from '../../../machines/protocol/memory.ts';
import type { PodStatus } from '../../../machines/protocol/api-types.ts';
import { podMemory } from './memory-schema.ts';

/** A compressed segment unpacks to at most so much, bytes: what does not is none. */
const MAX_INFLATED = 1 << 28;

/** What the journal gives back of a pod after the agent was restarted. */
export interface Remembered {
  memory: PodMemory;
  status: PodStatus | null;
}

/**
 * The status with which a pod has ended; undefined of one that had not. Of one that the node ended for its own sake the memory says so
 * already, and how its containers end may still decide.
 */
export function endOf(remembered: Remembered | undefined): PodStatus | undefined {
  const { status = null, memory } = remembered ?? {};
  if (status === null || !isTerminalPhase(status.phase)) return undefined;
  return (memory?.termination?.phase ?? null) === null ? status : undefined;
}

/**
 * Reads back, for each pod, the memory that its last report carried: back-off, deadlines, probe counts. Of each shard
 * the segments are looked at from the last one that begins with all living pods, and one before it; the first segment of an
 * agent (or worker) begins with none, and if that one ended early others were never started. A damaged line ends the reading
 * of its file; what is missing is rebuilt from the runtime, as kubelet does.
 */
export function restoreMemory(dir: string): Map<string, Remembered> {
  const out = new Map<string, Remembered>();
  if (!existsSync(dir)) return out;
  const byShard = new Map<string, string[]>();
  for (const name of readdirSync(dir).sort()) {
    const match = /^(shard-\d+)-\d+\.jsonl(\.gz)?$/.exec(name);
    if (match?.[1] === undefined) continue;
    byShard.set(match[1], [...(byShard.get(match[1]) ?? []), name]);
  }
  for (const names of byShard.values()) readShard(dir, names, out);
  // A flipped bit may leave JSON of other types; a machine that starts with it would throw at each message.
  for (const [uid, { memory, status }] of out) {
    const usable = podMemory.safeParse(memory).success && (status === null || !shapeProblem(status, STATUS_SHAPE));
    if (!usable) out.delete(uid);
  }
  return out;
}

/** `names`: segments of one shard, oldest first. The newest is read first: what an older one says of the same pod is over. */
function readShard(dir: string, names: readonly string[], out: Map<string, Remembered>): void {
  const known = new Set<string>();
  let whole = false;
  for (const name of names.toReversed()) {
    const text = textOf(join(dir, name));
    const found = new Map<string, Remembered | null>();
    readSegment(text, found);
    for (const [uid, remembered] of found) {
      if (known.has(uid)) continue;
      known.add(uid);
      if (remembered !== null) out.set(uid, remembered);
    }
    if (whole) return;
    whole = /^\{"r":"snap"/m.test(text);
  }
}

/** '' of a file that cannot be read. */
function textOf(path: string): string {
  try {
    const raw = readFileSync(path);
    return (path.endsWith('.gz') ? gunzipSync(raw, { maxOutputLength: MAX_INFLATED }) : raw).toString('utf8');
  } catch {
    return '';
  }
}

/** `out`: null for a pod that has finished. */
function readSegment(text: string, out: Map<string, Remembered | null>): void {
  // The segment's head has the settings that its snapshots leave out.
  let settings: PodContext['settings'] | undefined;
  for (const line of text.split('\n')) {
    // Only these records can carry a memory; the others are not worth parsing.
    if (!/^\{"r":"(segment|snap)"|"(status\.Publish|pod\.Finished)"/.test(line)) continue;
    try {
      const record = JSON.parse(line) as Record<string, unknown>;
      if (record['r'] === 'segment') settings = record['settings'] as PodContext['settings'];
      else takeRecord(record, settings, out);
    } catch {
      return;
    }
  }
}

function takeRecord(
  record: Record<string, unknown>,
  settings: PodContext['settings'] | undefined,
  out: Map<string, Remembered | null>,
): void {
  const uid = record['uid'] as string;
  if (record['r'] === 'snap') {
    if (settings === undefined) throw new Error('a snapshot before the head of its segment');
    const context: PodContext = { ...(record['context'] as PodContext), settings };
    out.set(uid, { memory: { ...emptyMemory, ...memoryOf(context) }, status: context.status });
  }
  if (record['r'] !== 'step') return;
  for (const effect of record['e'] as { type: string; params: { memory: PodMemory; status: PodStatus } }[]) {
    if (effect.type === 'status.Publish') out.set(uid, { memory: effect.params.memory, status: effect.params.status });
  }
  // A pod that has finished leaves nothing to one that comes back under its UID.
  if ((record['e'] as { type: string }[]).some((effect) => effect.type === 'pod.Finished')) out.set(uid, null);
}
