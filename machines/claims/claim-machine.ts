import { withTold, withoutStale } from './claim-health.ts';
import type { AskedClaim, ClaimMessage, ClaimOrder, ClaimResult, FetchedClaim } from './claim-messages.ts';
import { WIPING_DELAY_MS, claimKey, claimsOf } from './claim-state.ts';
import type { ClaimState, ClaimWork, DriverCall, KnownClaim } from './claim-state.ts';

type MessageOf<T extends ClaimMessage['type']> = Extract<ClaimMessage, { type: T }>;

/** One step on its way. */
interface Turn {
  state: ClaimState;
  orders: ClaimOrder[];
}

/**
 * One step of the claims manager (kubelet: cm/dra): which ResourceClaims pods of this node use, and which of them drivers have prepared.
 * A claim is prepared before the first container of the first pod that uses it starts, and given back after the last one has ended. What
 * is done with a claim is done one after the other, whichever pods ask; what others do is not waited for, so that a driver that hangs
 * holds up those alone who need it.
 */
export function stepClaims(state: ClaimState, message: ClaimMessage): { state: ClaimState; outputs: ClaimOrder[] } {
  const turn: Turn = { state, orders: [] };
  take(turn, message);
  return { state: turn.state, outputs: turn.orders };
}

/** The state's name: whether drivers are asked. */
export function claimsStateName({ work }: ClaimState): string {
  return work.length === 0 ? 'idle' : 'asking';
}

/** Which drivers are waited for; '' when none is. */
export function claimsWhy({ work }: ClaimState): string {
  return work
    .flatMap(({ kind, pod, calls }) => {
      const call = calls?.[0];
      return call === undefined ? [] : [`driver ${call.driver} to ${kind} ${call.claims.join(', ')} for pod ${pod}`];
    })
    .join('; ');
}

function take(turn: Turn, message: ClaimMessage): void {
  switch (message.type) {
    case 'checkpoint.found':
      turn.state = {
        ...turn.state,
        claims: Object.fromEntries(message.claims.map((claim) => [claimKey(claim.namespace, claim.name), claim])),
      };
      break;
    case 'health.found':
      turn.state = { ...turn.state, health: message.health };
      break;
    case 'health.told': {
      const { health, changed } = withTold(turn.state.health?.[message.driver] ?? {}, message.devices, message);
      turn.state = { ...turn.state, health: { ...turn.state.health, [message.driver]: health } };
      if (changed) turn.orders.push({ type: 'health.write' });
      healthDue(turn, message.steady);
      break;
    }
    case 'health.lost': {
      const { [message.driver]: gone, ...health } = turn.state.health ?? {};
      turn.state = { ...turn.state, health };
      if (gone !== undefined) turn.orders.push({ type: 'health.write' });
      break;
    }
    case 'health.due':
      healthDue(turn, message.steady);
      break;
    case 'driver.told':
      driverTold(turn, message);
      break;
    case 'wipes.due':
      wipesDue(turn, message.steady);
      break;
    case 'pod.prepares':
      prepares(turn, message);
      break;
    case 'pod.unprepares':
      unprepares(turn, message.uid);
      break;
    case 'pods.active':
      for (const uid of strangers(turn.state, message.uids)) unprepares(turn, uid);
      break;
    case 'driver.answered':
      answered(turn, message);
      break;
    case 'work.broke': {
      const work = turn.state.work.find(({ id }) => id === message.work);
      if (work !== undefined) fail(turn, work, message.message);
      break;
    }
  }
}

function driverTold(turn: Turn, { driver, registered, connected, steady }: MessageOf<'driver.told'>): void {
  const { drivers } = turn.state;
  // The first loss counts: who comes and goes without a connection gets no more time by that.
  const wipeAt = connected ? null : (drivers[driver]?.wipeAt ?? steady + WIPING_DELAY_MS);
  turn.state = { ...turn.state, drivers: { ...drivers, [driver]: { registered, wipeAt } } };
}

function healthDue(turn: Turn, steady: number): void {
  for (const [driver, devices] of Object.entries(turn.state.health ?? {})) {
    const left = withoutStale(devices, steady);
    if (left === null) continue;
    turn.state = { ...turn.state, health: { ...turn.state.health, [driver]: left } };
    if (!turn.orders.some(({ type }) => type === 'health.write')) turn.orders.push({ type: 'health.write' });
  }
}

function wipesDue(turn: Turn, steady: number): void {
  for (const [name, { registered, wipeAt }] of Object.entries(turn.state.drivers)) {
    if (wipeAt === null || steady < wipeAt) continue;
    const { [name]: _gone, ...others } = turn.state.drivers;
    const drivers = registered ? { ...others, [name]: { registered, wipeAt: null } } : others;
    turn.state = { ...turn.state, drivers };
    turn.orders.push({ type: 'slices.wipe', driver: name });
  }
}

/** Pods that have claims, live no more, and are not being seen to. */
export function strangers({ claims, work }: ClaimState, active: readonly string[]): string[] {
  const known = new Set([...active, ...work.map(({ pod }) => pod)]);
  const all = new Set(Object.values(claims).flatMap(({ pods }) => pods));
  return [...all].filter((uid) => !known.has(uid)).sort();
}

/** Judged before anything is changed, so that a pod that may not use its claims is none of their users. */
function prepares(turn: Turn, { uid, name, namespace, claims }: MessageOf<'pod.prepares'>): void {
  const id = turn.state.seq + 1;
  turn.state = { ...turn.state, seq: id };
  const wanted: Record<string, ClaimWork['wanted'][string]> = {};
  for (const claim of claims) {
    const problem = problemOf(turn.state, { uid, name, namespace }, claim);
    if (problem !== null) {
      turn.orders.push({ type: 'work.failed', work: id, pod: uid, message: problem });
      return;
    }
    if ('problem' in claim) continue;
    const { drivers } = claim;
    wanted[claimKey(namespace, claim.name)] = { uid: claim.uid, name: claim.name, namespace, drivers: drivers ?? [] };
  }
  add(turn, { id, kind: 'prepare', pod: uid, claims: Object.keys(wanted), wanted, calls: null });
}

/** Why the pod cannot use a claim, in the words and in the order of kubelet's prepareResources. */
function problemOf(
  { drivers }: ClaimState,
  pod: { uid: string; name: string; namespace: string },
  claim: FetchedClaim,
): string | null {
  if ('problem' in claim) return claim.problem;
  if (claim.ofPod && claim.controller !== pod.uid) {
    const which = `ResourceClaim ${pod.namespace}/${claim.name}`;
    return `${which} was not created for pod ${pod.namespace}/${pod.name} (pod is not owner)`;
  }
  if (!claim.reservedFor.includes(pod.uid))
    return `pod ${pod.name} (${pod.uid}) is not allowed to use ResourceClaim ${claim.name} (${claim.uid})`;
  if (claim.drivers === null) return `ResourceClaim ${claim.name}: not allocated`;
  for (const driver of claim.drivers) {
    if (driver === '') return 'DRA driver name is empty';
    if (drivers[driver]?.registered !== true) return `DRA driver ${driver} is not registered`;
  }
  return null;
}

function unprepares(turn: Turn, uid: string): void {
  const { state } = turn;
  const id = state.seq + 1;
  turn.state = { ...state, seq: id };
  const coming = state.work.filter(({ pod }) => pod === uid).flatMap(({ claims }) => claims);
  const claims = [...new Set([...claimsOf(state, uid), ...coming])];
  add(turn, { id, kind: 'unprepare', pod: uid, claims, wanted: {}, calls: null });
}

function add(turn: Turn, work: ClaimWork): void {
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

function answered(turn: Turn, { work: id, results }: MessageOf<'driver.answered'>): void {
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
