import type { AskedClaim, ClaimMessage, ClaimOrder, ClaimResult } from './claim-messages.ts';
import { claimsOf } from './claim-state.ts';
import type { ClaimState, ClaimWork, DriverCall, KnownClaim } from './claim-state.ts';

/** One step of the claims manager on its way. */
export interface Turn {
  state: ClaimState;
  orders: ClaimOrder[];
}

type MessageOf<T extends ClaimMessage['type']> = Extract<ClaimMessage, { type: T }>;

/** Something is to be done with claims of a pod, when what came before it is over. */
export function addWork(turn: Turn, work: ClaimWork): void {
  turn.state = { ...turn.state, work: [...turn.state.work, work] };
  beginAll(turn);
}

/** Begins what waits for nothing any more. */
function beginAll(turn: Turn): void {
  for (let next = ready(turn.state); next !== undefined; next = ready(turn.state)) {
    if (next.kind === 'prepare') beginToPrepare(turn, next);
    else beginToUnprepare(turn, next);
  }
}

function ready({ work }: ClaimState): ClaimWork | undefined {
  return work.find(
    (one, at) =>
      one.calls === null &&
      work
        .slice(0, at)
        .every((other) => other.pod !== one.pod && !other.claims.some((key) => one.claims.includes(key))),
  );
}

function beginToPrepare(turn: Turn, work: ClaimWork): void {
  for (const key of work.claims) {
    const old = turn.state.claims[key];
    if (old === undefined || old.uid === work.wanted[key]?.uid) continue;
    const which = `old ResourceClaim with same name ${old.name} and different UID ${old.uid}`;
    fail(turn, work, `${which} still exists (previous pod force-deleted?!)`);
    return;
  }
  for (const key of work.claims) {
    const wanted = work.wanted[key];
    if (wanted === undefined) continue;
    const { uid, name, namespace, drivers } = wanted;
    const known: KnownClaim = turn.state.claims[key] ?? {
      ...{ uid, name, namespace, pods: [], prepared: false },
      drivers: Object.fromEntries(drivers.map((driver) => [driver, []])),
    };
    const pods = known.pods.includes(work.pod) ? known.pods : [...known.pods, work.pod].sort();
    setClaim(turn, key, { ...known, pods });
  }
  const unprepared = work.claims.filter((key) => turn.state.claims[key]?.prepared === false);
  begin(turn, work, unprepared);
}

/** The pod is no user of its claims any more; drivers hear of those that it was the last user of, and these stay until they have answered. */
function beginToUnprepare(turn: Turn, work: ClaimWork): void {
  const last: string[] = [];
  for (const key of claimsOf(turn.state, work.pod)) {
    const claim = turn.state.claims[key];
    if (claim === undefined) continue;
    if (claim.pods.length === 1) {
      last.push(key);
      // When one of its drivers fails, another has taken it back already: who wants it next asks all of them again.
      setClaim(turn, key, { ...claim, prepared: false });
    } else setClaim(turn, key, { ...claim, pods: claim.pods.filter((uid) => uid !== work.pod) });
  }
  begin(turn, { ...work, claims: [...new Set([...work.claims, ...last])] }, last);
}

/** The work's calls: those of one driver in one, as kubelet makes them. What was promised is on disk before the first of them. */
function begin(turn: Turn, work: ClaimWork, claims: readonly string[]): void {
  const byDriver = new Map<string, string[]>();
  for (const key of claims)
    for (const driver of Object.keys(turn.state.claims[key]?.drivers ?? {})) {
      const keys = byDriver.get(driver) ?? [];
      byDriver.set(driver, [...keys, key]);
    }
  const calls = [...byDriver].map(([driver, keys]): DriverCall => ({ driver, claims: keys }));
  const begun = { ...work, calls };
  setWork(turn, begun);
  if (calls.length > 0 && work.kind === 'prepare') turn.orders.push({ type: 'checkpoint.write', work: work.id });
  proceed(turn, begun);
}

/** Makes the call at hand; after the last one the work is done. */
function proceed(turn: Turn, work: ClaimWork): void {
  const call = work.calls?.[0];
  if (call === undefined) {
    finish(turn, work);
    return;
  }
  const claims = call.claims.flatMap((key): AskedClaim[] => {
    const claim = turn.state.claims[key];
    return claim === undefined ? [] : [{ namespace: claim.namespace, uid: claim.uid, name: claim.name }];
  });
  const type = work.kind === 'prepare' ? 'driver.prepare' : 'driver.unprepare';
  turn.orders.push({ type, work: work.id, driver: call.driver, claims });
}

/** A driver has answered the call at hand. */
export function answered(turn: Turn, { work: id, results }: MessageOf<'driver.answered'>): void {
  const work = turn.state.work.find((one) => one.id === id);
  const call = work?.calls?.[0];
  if (work === undefined || call === undefined) return;
  const problem = takeResults(turn, work, call, results);
  if (problem !== null) {
    fail(turn, work, problem);
    return;
  }
  const next = { ...work, calls: work.calls?.slice(1) ?? [] };
  setWork(turn, next);
  proceed(turn, next);
}

/** What was to be done before a driver is asked, or the call itself, went wrong. */
export function broke(turn: Turn, { work: id, message }: MessageOf<'work.broke'>): void {
  const work = turn.state.work.find((one) => one.id === id);
  if (work !== undefined) fail(turn, work, message);
}

/** What the driver said of each claim; null when all is well, else kubelet's words. */
function takeResults(turn: Turn, work: ClaimWork, call: DriverCall, results: readonly ClaimResult[]): string | null {
  const method = work.kind === 'prepare' ? 'NodePrepareResources' : 'NodeUnprepareResources';
  for (const { uid, error, devices } of results) {
    const key = call.claims.find((one) => turn.state.claims[one]?.uid === uid);
    const claim = key === undefined ? undefined : turn.state.claims[key];
    if (key === undefined || claim === undefined) return `${method} returned result for unknown claim UID ${uid}`;
    if (error !== '') return `${method} failed for ResourceClaim ${claim.name}: ${error}`;
    if (work.kind === 'prepare')
      setClaim(turn, key, { ...claim, drivers: { ...claim.drivers, [call.driver]: devices } });
  }
  const missing = call.claims.length - results.length;
  return missing === 0 ? null : `${method} skipped ${missing} ResourceClaims`;
}

function finish(turn: Turn, work: ClaimWork): void {
  let changed = work.kind === 'unprepare' && work.claims.length > 0;
  for (const key of work.claims) {
    const claim = turn.state.claims[key];
    if (claim === undefined) continue;
    if (work.kind === 'prepare') {
      changed = true;
      if (!claim.prepared) setClaim(turn, key, { ...claim, prepared: true });
    } else if (claim.pods.length === 1 && claim.pods[0] === work.pod) {
      const { [key]: _gone, ...claims } = turn.state.claims;
      turn.state = { ...turn.state, claims };
    }
  }
  if (changed) turn.orders.push({ type: 'checkpoint.write', work: work.id });
  turn.orders.push({ type: 'work.done', work: work.id, pod: work.pod });
  end(turn, work);
}

function fail(turn: Turn, work: ClaimWork, message: string): void {
  turn.orders.push({ type: 'work.failed', work: work.id, pod: work.pod, message });
  end(turn, work);
}

function end(turn: Turn, { id }: ClaimWork): void {
  turn.state = { ...turn.state, work: turn.state.work.filter((one) => one.id !== id) };
  beginAll(turn);
}

function setWork(turn: Turn, work: ClaimWork): void {
  turn.state = { ...turn.state, work: turn.state.work.map((one) => (one.id === work.id ? work : one)) };
}

function setClaim(turn: Turn, key: string, claim: KnownClaim): void {
  turn.state = { ...turn.state, claims: { ...turn.state.claims, [key]: claim } };
}
