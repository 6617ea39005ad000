import type { Place } from '../machine-step/step.ts';
import { statePath } from '../machine-step/step.ts';
import { moment } from '../values/spoken-time.ts';
import type { DeviceContext } from './device-context.ts';
import type { MountContext } from './mount-context.ts';
import type { DeviceId } from './volume-orders.ts';

/** All volumes of the node that the main thread sets up; plain JSON. */
export interface VolumeManagerState {
  /** By {@link mountId}. */
  mounts: Readonly<Record<string, Place<MountContext>>>;
  devices: Readonly<Record<DeviceId, Place<DeviceContext>>>;
  /** How many calls were ordered. */
  calls: number;
}

/** Nothing is known yet. */
export const NO_VOLUMES: VolumeManagerState = { mounts: {}, devices: {}, calls: 0 };

/** Name of a pod's volume among all of the node. */
export function mountId(uid: string, volume: string): string {
  return `${uid}/${volume}`;
}

/** The same of a volume of which only the folder was seen: no volume's name has a slash. */
export function foundId(uid: string, { plugin, name, mode }: { plugin: string; name: string; mode: string }): string {
  return `${uid}/${mode}/${plugin}/${name}`;
}

/** The state's name: what the least content of its volumes waits for. */
export function volumeManagerStateName({ mounts, devices }: VolumeManagerState): string {
  const all: Place<{ problem: unknown; op: string }>[] = [...Object.values(mounts), ...Object.values(devices)];
  if (all.some(({ context }) => context.problem !== null)) return 'troubled';
  return all.some(({ context }) => context.op !== '') ? 'busy' : 'settled';
}

/** What of it does not go well, in words; '' when all does. */
export function volumeManagerWhy({ mounts, devices }: VolumeManagerState): string {
  const words: string[] = [];
  for (const { value, context } of Object.values(mounts))
    if (context.problem !== null)
      words.push(
        `volume ${context.volume || (context.known?.name ?? '')} of ${context.pod || context.uid} is ${statePath(value)} since ${moment(context.since)}: ${context.problem.text}`,
      );
  for (const { value, context } of Object.values(devices))
    if (context.problem !== null)
      words.push(
        `device ${context.device} is ${statePath(value)} since ${moment(context.since)}: ${context.problem.text}`,
      );
  return words.join('; ');
}

/**
 * Devices that the node's status names in `volumesInUse`, sorted. Of what an earlier agent has put into a pod no device is known as long as nobody
 * asks for it, unless that was staged: it is in use all the same (kubelet: AddAttachUncertainReconstructedVolume).
 */
export function volumesInUse({ mounts, devices }: VolumeManagerState): string[] {
  const ready = Object.values(devices)
    .filter(({ value, context }) => context.attachable && value !== 'gone')
    .map(({ context }) => context.device);
  const inPods = Object.values(mounts).flatMap(({ context: { known } }) =>
    known?.attachable && known.device !== '' && known.device !== '?' ? [known.device] : [],
  );
  return [...new Set([...ready, ...inPods])].sort();
}
