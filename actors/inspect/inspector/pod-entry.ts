import type { PodStatus } from '../../../machines/protocol/api-types.ts';
import type { PodLine } from './inspector-api.ts';
import type { Place } from './step-table.ts';
import { StepTable } from './step-table.ts';

/** A step from which a replay can begin. */
export interface Base {
  index: number;
  /** The `segment` record whose settings the machine was made with. */
  settings: Place;
  /** The pod's place before the step; absent when the step itself is `pod.start`. */
  snap?: Place;
  /** Of a single machine: the further pieces of that place. */
  rows?: Place[];
}

/** One pod of the index. */
export interface PodEntry {
  /** What the list shows of it; `steps` is kept up to date by {@link visibleSteps}. */
  line: PodLine;
  steps: StepTable;
  /** Oldest first. */
  bases: Base[];
  /** Effects that nothing has answered yet, by key. */
  asked: Map<string, { step: number; position: number; type: string }>;
  /** Messages whose outcome was not written yet, by number; `key`: of the effect that the message answers. */
  pending: Map<number, { step: number; key: string; failed: boolean }>;
  /** Which log it was last seen in, e.g. `shard-00`. */
  writer: string;
  /** The state in which the node's history counts it; '' while it has no actor. */
  counted: string;
  /** Since when it is not where it should be, 0 when it is; its states may have changed meanwhile. */
  waitingSince: number;
  /** When it first had an actor, and when it lost it (0: it has one). */
  seenAt: number;
  goneAt: number;
}

/** A pod of which nothing is known but its UID. */
export function newEntry(uid: string, writer: string): PodEntry {
  const line: PodLine = {
    ...{ uid, namespace: '', name: '', source: '', state: '', phase: 'Pending', why: '' },
    ...{ since: 0, startedAt: 0, restarts: 0, containers: 0, ready: 0, gone: false, steps: 0 },
  };
  return {
    ...{ line, steps: new StepTable(), bases: [], asked: new Map(), pending: new Map(), writer },
    ...{ counted: '', waitingSince: 0, seenAt: 0, goneAt: 0 },
  };
}

/** How many steps there are to be shown: those whose outcome is still being written are not. */
export function visibleSteps({ steps, pending }: PodEntry): number {
  for (const { step } of pending.values()) return step;
  return steps.end;
}

/** Takes what a status says into the pod's line. */
export function takeStatus(line: PodLine, status: PodStatus | null | undefined): void {
  if (status === null || status === undefined) return;
  line.phase = status.phase ?? line.phase;
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  // Containers that were removed at the pod's end take their counts with them.
  const restarts = all.reduce((sum, { restartCount }) => sum + (restartCount ?? 0), 0);
  line.restarts = Math.max(line.restarts, restarts);
  line.ready = (status.containerStatuses ?? []).filter(({ ready }) => ready).length;
}
