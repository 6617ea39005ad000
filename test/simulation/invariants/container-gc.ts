import type { ContainerRecord } from '../../../cri/sim/records.ts';
import { keptContainers } from '../world/node-settings.ts';
import type { World } from '../world/world.ts';
import type { Book, KnownContainer } from './book.ts';
import type { Rule } from './rule.ts';

/** Within so long after something happened to a pod nothing is asked of it, ms: it has to be told first. */
const TOLD_MS = 60_000;
/** So long a removal that was begun may take to reach the runtime, ms. */
const UNDER_WAY_MS = 1000;
const RUNNING = 1;

/** What runs, and what a pod goes by, is removed by nobody but the pod itself. */
export const neededContainersStay: Rule = {
  name: 'no container is collected that runs, or that its pod goes by',
  source:
    'kubelet evictableContainers: "Prune out running containers"; core/v1 ContainerStatus.restartCount, lastState',
  begin: ({ world, book, say }) => {
    /** Those that pods removed themselves. */
    const own = new Set<string>();
    /** Pods whose actors this agent has, with since when. */
    const stepped = new Map<string, number>();
    const deleted = new Set<string>();
    /** Those that were deleted before this agent began. */
    let unheard = new Set<string>();
    return {
      on: (fact) => {
        if (fact.f === 'api' && fact.type === 'DELETED') deleted.add(fact.pod.metadata?.uid ?? '');
        if (fact.f === 'agent') {
          unheard = new Set(deleted);
          stepped.clear();
        }
        if (fact.f === 'step' && !stepped.has(fact.uid)) stepped.set(fact.uid, world.time.now);
        if (fact.f === 'effect' && fact.effect.type === 'cri.RemoveContainer') own.add(fact.effect.params.containerId);
        if (fact.f !== 'call' || fact.rpc !== 'RemoveContainer' || fact.container === undefined) return;
        const { id, metadata, state } = fact.container;
        if (own.has(id)) return;
        const what = `${fact.uid}/${metadata.name} ${id}`;
        if (state === RUNNING) say(`${what} runs, and is collected`);
        const pod = book.pods.get(fact.uid);
        // Of one that was deleted before this agent began nobody wants to know anything any more.
        if (!stepped.has(fact.uid) && unheard.has(fact.uid)) return;
        // An agent that has just begun, and whose list lags, takes it for gone.
        const since = stepped.get(fact.uid) ?? world.time.now;
        if (world.time.now - since < UNDER_WAY_MS && world.listsLag) return;
        // Nor of a pod that no source names.
        if (pod === undefined || pod.state.startsWith('terminated') || pod.context.source === 'orphan') return;
        if (newest(book, fact.uid, metadata.name)?.id === id)
          say(`${what} is the last of its name, and is collected in ${pod.state}`);
      },
    };
  },
};

/** A call that hangs goes on for so long after the fault, ms: `runtimeRequestTimeout` and what is tried again. */
const HUNG_MS = 150_000;

/** A pass leaves no more ended containers than the node is told to keep, but for those that pods go by. */
export const limitsAreKept: Rule = {
  name: 'of ended containers no more stay than are kept',
  source: 'kubelet GCPolicy: MinAge, MaxPerPodContainer, MaxContainers',
  begin: ({ world, book, say }) => {
    const { minAgeMs, maxPerContainer, maxContainers } = keptContainers(world.plan.seed);
    /** Pods whose actors this agent has had: one that waits, as for another of its name to go, is not known to have ended. */
    const stepped = new Set<string>();
    return {
      on: (fact) => {
        const { now } = world.time;
        if (fact.f === 'agent') stepped.clear();
        if (fact.f === 'step') stepped.add(fact.uid);
        // The last part of a pass begins.
        if (fact.f !== 'host' || fact.effect !== 'podLogs.folders') return;
        const since = now - TOLD_MS - minAgeMs;
        if (!world.faults.calmSince(since - HUNG_MS) || book.lastBreak > since) return;
        const dead = [...book.containers.values()].filter(({ record }) => isThere(world, record) && record.state !== 1);
        const isFree = (c: KnownContainer): boolean => {
          const last = newest(book, c.uid, c.record.metadata.name);
          const known = book.pods.get(c.uid);
          const isKnown = stepped.has(c.uid) || isDeleted(world, c.uid);
          const lives = known !== undefined && !(known.state.startsWith('terminated') && isKnown);
          const settled = [c.exitedAt, last?.startedAt, last?.exitedAt].every((at) => (at ?? 0) < since);
          return (
            settled &&
            isMadeBefore(world, c.record, since) &&
            c.exitedAt !== null &&
            (!lives || (last !== undefined && last.id !== c.id && last.startedAt !== null))
          );
        };
        const free = dead.filter(isFree);
        for (const [unit, list] of Map.groupBy(free, ({ uid, name }) => `${uid}/${name}`))
          if (list.length > maxPerContainer && maxPerContainer >= 0) say(`${list.length} ended ones of ${unit} stay`);
        if (maxContainers >= 0 && free.length > 0 && dead.length > maxContainers + (dead.length - free.length))
          say(`${dead.length} ended ones stay, ${free.length} of them of no use`);
      },
    };
  },
};

/** By the wall clock, which may have been set back since, it was made before then; a runtime's own times may go on from the latest one. */
function isMadeBefore({ time }: World, { createdAt }: ContainerRecord, at: number): boolean {
  return Number(createdAt) / 1e6 < at + time.wallOffset;
}

/** The API server has no such pod any more. */
function isDeleted({ workload, api }: World, uid: string): boolean {
  return workload.planOf(uid)?.source === 'api' && !api.list().some(({ metadata }) => metadata?.uid === uid);
}

function newest(book: Book, uid: string, name: string): KnownContainer | undefined {
  return book.of(uid, name).at(-1);
}

function isThere(
  { runtime }: { runtime: { core: { containers: { byId: ReadonlyMap<string, unknown> } } } },
  { id }: ContainerRecord,
): boolean {
  return runtime.core.containers.byId.has(id);
}
