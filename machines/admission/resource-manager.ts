import type { Pod } from '../protocol/api-types.ts';
import type { Affinities } from '../resource-managers/admit-resources.ts';
import type { HeldHints } from '../resource-managers/topology/hints.ts';
import type { AdmissionRules } from './admission-rules.ts';
import type { Rejection } from './rejection.ts';

/**
 * Sets something of the node aside for pods one by one: CPUs, memory of a NUMA node, devices. All of it is pure. Its state,
 * plain JSON, stands in the admission machine's under its name, and is journaled and replayed with it.
 */
export interface ResourceManager<S = unknown> {
  readonly name: string;
  /** Its state when the agent starts. */
  born(rules: AdmissionRules): S;
  /**
   * A pod that all others before it had no objection to: what is left when it has its part, or why there is none for it.
   * What it answers counts only if nobody behind it refuses the pod. `affinities`: where its containers are that have devices;
   * `held`: of a pod that is resized, where the devices that it has let it be.
   */
  allocate(
    state: S,
    pod: Pod,
    rules: AdmissionRules,
    affinities?: Affinities,
    held?: HeldHints,
  ): ({ state: S } | Rejection) & { counts?: Counts };
  /** The pod has ended: its part is free. It need not have one. */
  release(state: S, uid: string): S;
  /** All sources have spoken: what other pods have is nobody's. */
  keepOnly?(state: S, keeps: (uid: string) => boolean): S;
  /** The pod's init containers have ended well. */
  initialized?(state: S, pod: Pod): S;
}

/** What metrics count of an admission, by names of the manager's own. */
export type Counts = Readonly<Record<string, number>>;

/** States of managers by their names. */
export type Managed = Readonly<Record<string, unknown>>;

/** Of all of them at the start. */
export function bornManaged(managers: readonly ResourceManager[], rules: AdmissionRules): Managed {
  return Object.fromEntries(managers.map((manager) => [manager.name, manager.born(rules)]));
}

/** Asks all managers, up to the first that refuses. */
export function allocateAll(
  managers: readonly ResourceManager[],
  managed: Managed,
  pod: Pod,
  rules: AdmissionRules,
  affinities?: Affinities,
  held?: HeldHints,
): ({ managed: Managed } | Rejection) & { counts: Counts } {
  let now = managed;
  let counts: Counts = {};
  for (const manager of managers) {
    const answer = manager.allocate(now[manager.name], pod, rules, affinities, held);
    counts = { ...counts, ...answer.counts };
    if (!('state' in answer)) return { ...answer, counts };
    if (answer.state !== now[manager.name]) now = { ...now, [manager.name]: answer.state };
  }
  return { managed: now, counts };
}

/** Every manager's state, changed where one of them changes it. */
export function changeAll(
  managers: readonly ResourceManager[],
  managed: Managed,
  change: (manager: ResourceManager, state: unknown) => unknown,
): Managed {
  let now = managed;
  for (const manager of managers) {
    const before = now[manager.name];
    const after = change(manager, before);
    if (after !== before) now = { ...now, [manager.name]: after };
  }
  return now;
}

/** The pod's parts are free. */
export function releaseAll(managers: readonly ResourceManager[], managed: Managed, uid: string): Managed {
  return changeAll(managers, managed, (manager, state) => manager.release(state, uid));
}
