import { behaves } from '../protocol/behaviour.ts';
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../protocol/observed.ts';
import type { Draft } from './draft.ts';
import { own } from './draft.ts';
import { sameJson } from './same-json.ts';

/**
 * Merges what PLEG saw. What an own call told after the observation began stays: a container that was
 * created meanwhile is not "gone" because an older list lacks it (kubelet's cache "newer than", C7).
 */
export function mergeObserved(draft: Draft, told: ObservedPod): void {
  const { context } = draft;
  const before = context.observed;
  // A look cannot have begun after its message was sent, unless the clock was set back in between.
  const seen = told.at <= draft.at ? told : { ...told, at: draft.at };
  if (before !== null && seen.at < before.at) {
    takeEndings(draft, seen);
    return;
  }
  // Within one millisecond nobody knows which is newer: the own call counts, and another look is asked for.
  const newer = (id: string) => (context.fresh[id] ?? 0) >= seen.at;
  if (Object.values(context.fresh).includes(seen.at)) draft.effects.push({ type: 'pleg.Observe', key: '', params: {} });
  const sandboxes = kept(before?.sandboxes, seen.sandboxes).filter((s) => !newer(s.id));
  const containers = kept(before?.containers, seen.containers).filter((c) => !newer(c.id));
  for (const s of before?.sandboxes ?? []) if (newer(s.id)) sandboxes.push(s);
  for (const c of before?.containers ?? []) if (newer(c.id)) containers.push(c);
  context.observed = {
    ...seen,
    sandboxes: sandboxes.sort(newestSandboxFirst),
    containers: containers.sort(newestFirst),
  };
  takeEndings(draft, seen);
  const { fresh } = context;
  for (const id in fresh) if ((fresh[id] ?? 0) < seen.at) delete own(draft, 'fresh')[id];
}

/**
 * Of a look that began before something newer was told, what it saw ended has ended all the same: a list that took long may
 * have seen more than an own call that was answered meanwhile. Whoever looks says each change once, so what is not taken
 * in now would never be.
 */
function takeEndings(draft: Draft, seen: ObservedPod): void {
  const { context } = draft;
  const { observed } = context;
  if (observed === null || !behaves(context.settings, 'endingsAreFinal')) return;
  const containers = withEnds(observed.containers, seen.containers, 'exited');
  const sandboxes = withEnds(observed.sandboxes, seen.sandboxes, 'notReady');
  if (containers !== observed.containers || sandboxes !== observed.sandboxes)
    context.observed = { ...observed, containers, sandboxes };
}

/** What is known, with those that were seen in their last state as they were seen; the same list when there are none. */
function withEnds<T extends { id: string; state: string }>(known: T[], seen: readonly T[], last: T['state']): T[] {
  const endOf = (each: T): T | undefined =>
    each.state === last ? undefined : seen.find(({ id, state }) => id === each.id && state === last);
  return known.some((each) => endOf(each) !== undefined) ? known.map((each) => endOf(each) ?? each) : known;
}

/** What is seen as it was known keeps its object: whoever remembers something of it need not look again. */
function kept<T extends { id: string }>(before: readonly T[] | undefined, seen: readonly T[]): readonly T[] {
  if (before === undefined || before.length === 0) return seen;
  return seen.map((now) => {
    const known = before.find((b) => b.id === now.id);
    return known !== undefined && sameJson(known, now) ? known : now;
  });
}

function newestFirst(a: ObservedContainer, b: ObservedContainer): number {
  return b.createdAt - a.createdAt || b.restartCount - a.restartCount;
}

/** By number first: a clock that was set back makes the newer one look older. */
function newestSandboxFirst(a: ObservedSandbox, b: ObservedSandbox): number {
  return b.attempt - a.attempt || b.createdAt - a.createdAt;
}

function current(draft: Draft): ObservedPod {
  const { uid, pod } = draft.context;
  return (
    draft.context.observed ?? {
      uid,
      name: pod.metadata?.name ?? '',
      namespace: pod.metadata?.namespace ?? '',
      at: 0,
      sandboxes: [],
      containers: [],
    }
  );
}

/** Puts in what an own call told about a container. An ended container never runs again: an answer that says so was given earlier. */
export function putContainer(draft: Draft, container: ObservedContainer): void {
  const observed = current(draft);
  const known = observed.containers.find((c) => c.id === container.id);
  if (known?.state === 'exited' && container.state !== 'exited') return;
  const others = observed.containers.filter((c) => c.id !== container.id);
  const put = known !== undefined && sameJson(known, container) ? known : container;
  draft.context.observed = { ...observed, containers: [put, ...others].sort(newestFirst) };
  own(draft, 'fresh')[container.id] = draft.at;
}

/** Changes some fields of a container, when it is known. */
export function patchContainer(draft: Draft, id: string, patch: Partial<ObservedContainer>): void {
  const known = draft.context.observed?.containers.find((c) => c.id === id);
  if (known !== undefined) putContainer(draft, { ...known, ...patch });
}

/** A container is gone for certain (it was removed). */
export function dropContainer(draft: Draft, id: string): void {
  const observed = current(draft);
  draft.context.observed = { ...observed, containers: observed.containers.filter((c) => c.id !== id) };
  own(draft, 'fresh')[id] = draft.at;
}

/** Puts in what an own call told about a sandbox. */
export function putSandbox(draft: Draft, sandbox: ObservedSandbox): void {
  const observed = current(draft);
  const others = observed.sandboxes.filter((s) => s.id !== sandbox.id);
  draft.context.observed = { ...observed, sandboxes: [sandbox, ...others].sort(newestSandboxFirst) };
  own(draft, 'fresh')[sandbox.id] = draft.at;
}

/** A sandbox is gone for certain. */
export function dropSandbox(draft: Draft, id: string): void {
  const observed = current(draft);
  draft.context.observed = { ...observed, sandboxes: observed.sandboxes.filter((s) => s.id !== id) };
  own(draft, 'fresh')[id] = draft.at;
}

/** Newest container under a name, whatever its sandbox: by number first, for a clock that was set back makes it look older. */
export function newestOf(observed: ObservedPod | null, name: string): ObservedContainer | null {
  let newest: ObservedContainer | null = null;
  for (const c of observed?.containers ?? [])
    if (c.name === name && (newest === null || c.restartCount > newest.restartCount)) newest = c;
  return newest;
}

/** Newest sandbox. */
export function newestSandbox(observed: ObservedPod | null): ObservedSandbox | null {
  return observed?.sandboxes[0] ?? null;
}
