import { messageOf } from '../values/message-of.ts';
import { entryOf } from '../values/entry-of.ts';
import type { DriverMessage, DriverOrder } from './driver-messages.ts';
import { compareVersions, highestVersion, versionText } from './driver-version.ts';
import type { DriverVersion } from './driver-version.ts';
import type { DriverNodeInfo } from './node-drivers.ts';

/** What is being done about a driver. */
export type DriverStage =
  'asking' | 'marking' | 'listing' | 'ready' | 'refreshing' | 'relisting' | 'unlisting' | 'unmarking';

/** A driver that registered, or one that goes and has left something behind. */
export interface DriverEntry {
  endpoint: string;
  version: DriverVersion;
  /** Which registration or leave of the node's life this is, and in which it came. */
  turn: number;
  cameIn: number;
  stage: DriverStage;
  /** How often what is under way was tried and failed, and what each try said. */
  problems: readonly string[];
  info: DriverNodeInfo | null;
  /** Why it goes, when it was never ready: who registered it is told in the end. */
  refusal: string | null;
}

/** The node's CSI drivers; plain JSON. */
export interface DriversState {
  drivers: Record<string, DriverEntry>;
  turns: number;
}

/** Of a node that has just started. */
export const NO_DRIVERS: DriversState = { drivers: {}, turns: 0 };

/** Pauses between tries to write an object, ms (kubelet: updateBackoff, four tries). */
const PAUSES_MS = [10, 50, 250] as const;

const SAID: Partial<Record<DriverStage, readonly [outer: string, inner: string]>> = {
  marking: ['error updating Node object with CSI driver node info', 'error updating node'],
  listing: ['error updating CSINode object with CSI driver node info', 'error updating CSINode'],
  relisting: ['error updating CSINode object with CSI driver node info', 'error updating CSINode'],
  unlisting: ['error uninstalling CSI driver from CSINode object', 'error updating CSINode'],
  unmarking: ['error removing CSI driver node info from Node object', 'error updating node'],
};

/**
 * One step of the keeper of CSI drivers (kubelet: csi.RegistrationHandler, nodeinfomanager): a driver that registers says what its node is,
 * then the node's object and the CSINode say so, and from then on it counts as registered; one that goes is taken out of both.
 */
export function stepDrivers(
  state: DriversState,
  message: DriverMessage,
): { state: DriversState; outputs: DriverOrder[] } {
  const { name } = message;
  const entry = entryOf(state.drivers, name);
  if (message.type === 'driver.came') return came(state, message);
  if (entry === undefined) return { state, outputs: [] };
  switch (message.type) {
    case 'driver.went':
      if (entry.endpoint !== message.endpoint || isLeaving(entry)) return { state, outputs: [] };
      return leave(state, name, entry, null);
    case 'driver.stale':
      if (entry.stage !== 'ready') return { state, outputs: [] };
      return go(state, name, { ...entry, stage: 'refreshing', problems: [] });
    default:
      return message.turn === entry.turn ? outcome(state, entry, message) : { state, outputs: [] };
  }
}

/** Throws, with kubelet's words, when a driver that speaks these versions cannot be taken beside what is there. */
export function judgeDriver(
  { drivers }: DriversState,
  caller: 'ValidatePlugin' | 'RegisterPlugin',
  name: string,
  versions: readonly string[],
): DriverVersion {
  const fail = (problem: string): never => {
    throw new Error(`kubernetes.io/csi: ${caller} for CSI driver "${name}" failed. ${problem}`);
  };
  if (versions.length === 0) return fail('Plugin returned an empty list for supported versions');
  let version: DriverVersion;
  try {
    version = highestVersion(versions);
  } catch (error) {
    const listed = versions.map((each) => JSON.stringify(each)).join(' ');
    return fail(`None of the versions specified [${listed}] are supported. err=${messageOf(error)}`);
  }
  const there = entryOf(drivers, name);
  if (there !== undefined && !isLeaving(there) && compareVersions(there.version, version) >= 0)
    return fail(
      `Another driver with the same name is already registered with a higher supported version: "${versionText(there.version)}"`,
    );
  return version;
}

/** May pods' volumes be set up by it? From the moment it registers on, as with kubelet. */
export function usableDriver({ drivers }: DriversState, name: string): DriverEntry | null {
  const entry = entryOf(drivers, name);
  return entry === undefined || isLeaving(entry) ? null : entry;
}

/** `idle`, or what is being done about a driver. */
export function driversStateName({ drivers }: DriversState): string {
  return Object.values(drivers).find(({ stage }) => stage !== 'ready')?.stage ?? 'idle';
}

/** What is waited for; '' when nothing is. */
export function driversWhy({ drivers }: DriversState): string {
  return Object.entries(drivers)
    .filter(([, { stage }]) => stage !== 'ready')
    .map(
      ([name, { stage, problems }]) => `driver ${name}: ${stage}${problems.length > 0 ? ` (${problems.at(-1)})` : ''}`,
    )
    .join('; ');
}

function came(state: DriversState, { name, endpoint, versions }: Extract<DriverMessage, { type: 'driver.came' }>) {
  const turn = state.turns + 1;
  const counted = { ...state, turns: turn };
  let version: DriverVersion;
  try {
    version = judgeDriver(state, 'RegisterPlugin', name, versions);
  } catch (error) {
    const outputs: DriverOrder[] = [{ type: 'driver.refused', name, turn, problem: messageOf(error) }];
    return { state: counted, outputs };
  }
  return go(counted, name, {
    ...{ endpoint, version, turn, cameIn: turn },
    ...{ stage: 'asking', problems: [], info: null, refusal: null },
  });
}

function outcome(
  state: DriversState,
  entry: DriverEntry,
  message: Extract<DriverMessage, { turn: number }>,
): { state: DriversState; outputs: DriverOrder[] } {
  const { name } = message;
  switch (message.type) {
    case 'driver.told': {
      const { info } = message;
      if (entry.stage !== 'asking' && entry.stage !== 'refreshing') return { state, outputs: [] };
      const fresh = entry.stage === 'asking';
      if (fresh && info.nodeId === '')
        return leave(state, name, entry, 'error adding CSI driver node info: driverNodeID must not be empty');
      return go(state, name, { ...entry, info, stage: fresh ? 'marking' : 'relisting', problems: [] });
    }
    case 'driver.written':
      return written(state, name, entry);
    case 'driver.due':
      return entry.problems.length === 0 ? { state, outputs: [] } : go(state, name, entry);
    case 'driver.failed':
      return failed(state, name, entry, message.problem);
  }
}

function written(state: DriversState, name: string, entry: DriverEntry) {
  const { cameIn, refusal } = entry;
  switch (entry.stage) {
    case 'marking':
      return go(state, name, { ...entry, stage: 'listing', problems: [] });
    case 'listing':
      return keep(state, name, ready(entry), [{ type: 'driver.taken', name, turn: cameIn }]);
    case 'relisting':
      return keep(state, name, ready(entry), []);
    case 'unlisting':
      return go(state, name, { ...entry, stage: 'unmarking', problems: [] });
    case 'unmarking':
      return forget(
        state,
        name,
        refusal === null ? [] : [{ type: 'driver.refused', name, turn: cameIn, problem: refusal }],
      );
    default:
      return { state, outputs: [] };
  }
}

function failed(state: DriversState, name: string, entry: DriverEntry, problem: string) {
  const { stage, turn, refusal } = entry;
  if (stage === 'asking') return leave(state, name, entry, problem);
  if (stage === 'refreshing') return keep(state, name, ready(entry), [{ type: 'driver.left', name, turn, problem }]);
  if (stage === 'ready') return { state, outputs: [] };
  const problems = [...entry.problems, problem];
  const ms = PAUSES_MS[problems.length - 1];
  if (ms !== undefined) return keep(state, name, { ...entry, problems }, [{ type: 'driver.wait', name, turn, ms }]);
  const [outer = '', inner = ''] = SAID[stage] ?? [];
  const listed = [...new Set(problems)];
  const all = listed.length === 1 ? (listed[0] ?? '') : `[${listed.join(', ')}]`;
  const text = `${outer}: ${inner}: timed out waiting for the condition; caused by: ${all}`;
  if (stage === 'relisting')
    return keep(state, name, ready(entry), [{ type: 'driver.left', name, turn, problem: text }]);
  if (stage === 'marking' || stage === 'listing') return leave(state, name, entry, text);
  const outputs: DriverOrder[] = [{ type: 'driver.left', name, turn, problem: text }];
  if (refusal !== null) outputs.push({ type: 'driver.refused', name, turn: entry.cameIn, problem: refusal });
  return forget(state, name, outputs);
}

/** It is taken out of what was written of it. @param refusal null: its socket is gone, so nobody waits for a word */
function leave(state: DriversState, name: string, entry: DriverEntry, refusal: string | null) {
  const turn = state.turns + 1;
  const next: DriverEntry = { ...entry, turn, stage: 'unlisting', problems: [], refusal };
  const left = go({ ...state, turns: turn }, name, next);
  // Who waits for the registration that is broken off is told at once.
  if (refusal === null && (entry.stage === 'asking' || entry.stage === 'marking' || entry.stage === 'listing'))
    left.outputs.unshift({ type: 'driver.refused', name, turn: entry.cameIn, problem: 'its socket is gone' });
  return left;
}

function ready(entry: DriverEntry): DriverEntry {
  return { ...entry, stage: 'ready', problems: [] };
}

function isLeaving({ stage }: DriverEntry): boolean {
  return stage === 'unlisting' || stage === 'unmarking';
}

/** Has what the entry's stage is about done. */
function go(state: DriversState, name: string, entry: DriverEntry) {
  const { turn, endpoint, info } = entry;
  const its = { name, turn };
  const outputs: DriverOrder[] = [];
  if (entry.stage === 'asking' || entry.stage === 'refreshing') outputs.push({ type: 'driver.ask', ...its, endpoint });
  else if (entry.stage === 'marking' && info !== null) outputs.push({ type: 'node.mark', ...its, info });
  else if ((entry.stage === 'listing' || entry.stage === 'relisting') && info !== null)
    outputs.push({ type: 'csiNode.list', ...its, info });
  else if (entry.stage === 'unlisting') outputs.push({ type: 'csiNode.unlist', ...its });
  else if (entry.stage === 'unmarking') outputs.push({ type: 'node.unmark', ...its });
  return keep(state, name, entry, outputs);
}

function keep(state: DriversState, name: string, entry: DriverEntry, outputs: DriverOrder[]) {
  return { state: { ...state, drivers: { ...state.drivers, [name]: entry } }, outputs };
}

function forget(state: DriversState, name: string, outputs: DriverOrder[]) {
  const { [name]: _gone, ...drivers } = state.drivers;
  return { state: { ...state, drivers }, outputs };
}
