import type { ContainerGcPolicy, DeadContainer, LogFolder, ListedSandbox } from './container-gc-context.ts';

/** When and how a look is judged. */
export interface Occasion {
  readonly at: number;
  /** Everything that has ended goes. */
  readonly all: boolean;
  /** All sources of pods have spoken. */
  readonly ready: boolean;
}

/**
 * Which ended containers go (kubelet's evictContainers): those of pods that are gone, then the oldest of each container that are more than
 * are kept, then of the whole node's: an equal share for each, and the oldest of all. What a pod goes by stays, and counts.
 */
export function containersToRemove(
  dead: readonly DeadContainer[],
  { minAgeMs, maxPerContainer, maxContainers }: ContainerGcPolicy,
  { at, all, ready }: Occasion,
): DeadContainer[] {
  const removed: DeadContainer[] = [];
  let units = unitsOf(dead.filter(({ createdAt }) => createdAt <= at - minAgeMs));
  const cut = (keep: number): void => {
    units = units.map((unit) => without(unit, unit.length - keep, removed));
  };
  if (ready)
    units = units.flatMap((unit) => {
      const whole = unit.some(({ fate }) => fate === 'gone' || (all && fate === 'ended'));
      return whole ? (without(unit, unit.length, removed), []) : [unit];
    });
  if (maxPerContainer >= 0) cut(maxPerContainer);
  const count = (): number => units.reduce((sum, unit) => sum + unit.length, 0);
  if (maxContainers < 0 || count() <= maxContainers) return removed;
  cut(Math.max(1, Math.floor(maxContainers / units.length)));
  without(units.flat().sort(youngestFirst), count() - maxContainers, removed);
  return removed;
}

/**
 * Which sandboxes go (kubelet's evictSandboxes): those that are not ready and hold no container, of pods that are gone, and of
 * others all but the newest.
 */
export function sandboxesToRemove(sandboxes: readonly ListedSandbox[], all: boolean): ListedSandbox[] {
  const byPod = Map.groupBy(sandboxes, ({ uid }) => uid);
  return [...byPod.values()].flatMap((own) => {
    const whole = own.some(({ fate }) => fate === 'gone' || (all && fate === 'ended'));
    const old = [...own].sort((a, b) => b.createdAt - a.createdAt).slice(whole ? 0 : 1);
    return old.reverse().filter(({ active }) => !active);
  });
}

/** Which folders of logs go: those of pods that are gone. Before all sources have spoken nobody knows which these are. */
export function foldersToRemove(folders: readonly LogFolder[], ready: boolean): string[] {
  return ready ? folders.filter(({ fate }) => fate === 'gone').map(({ name }) => name) : [];
}

/** Containers of one name of one pod, youngest first. */
function unitsOf(dead: readonly DeadContainer[]): DeadContainer[][] {
  const units = Map.groupBy(dead, ({ uid, name }) => `${uid}/${name}`);
  // By number first: a clock that was set back makes the later one look older.
  return [...units.values()].map((unit) => unit.sort((a, b) => b.attempt - a.attempt || youngestFirst(a, b)));
}

function youngestFirst(a: DeadContainer, b: DeadContainer): number {
  return b.createdAt - a.createdAt;
}

/** What is left of a list, youngest first, without its `count` last ones that no pod goes by; these are put among the removed. */
function without(list: readonly DeadContainer[], count: number, removed: DeadContainer[]): DeadContainer[] {
  const gone = new Set(
    count <= 0
      ? []
      : list
          .filter(({ needed }) => !needed)
          .reverse()
          .slice(0, count),
  );
  removed.push(...gone);
  return list.filter((each) => !gone.has(each));
}
