import { withTold, withoutStale } from './claim-health.ts';
import type { ClaimMessage, ClaimOrder, FetchedClaim } from './claim-messages.ts';
import { WIPING_DELAY_MS, claimKey, claimsOf } from './claim-state.ts';
import type { ClaimState, ClaimWork } from './claim-state.ts';
import { addWork, answered, broke } from './claim-work.ts';
import type { Turn } from './claim-work.ts';

type MessageOf<T extends ClaimMessage['type']> = Extract<ClaimMessage, { type: T }>;

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
    case 'work.broke':
      broke(turn, message);
      break;
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
  addWork(turn, { id, kind: 'prepare', pod: uid, claims: Object.keys(wanted), wanted, calls: null });
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
  addWork(turn, { id, kind: 'unprepare', pod: uid, claims, wanted: {}, calls: null });
}
