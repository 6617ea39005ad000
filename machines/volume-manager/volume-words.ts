import { statePath } from '../machine-step/step.ts';
import type { Place } from '../machine-step/step.ts';
import { moment } from '../values/spoken-time.ts';
import type { DeviceContext } from './device-context.ts';
import type { MountContext } from './mount-context.ts';
import type { VolumeManagerState } from './volume-manager-state.ts';

/** What a volume of a pod waits for. */
export interface VolumeWait {
  /** As in `spec.volumes`, or the PV's name where only its folder is known. */
  volume: string;
  /** Since when, ms since the epoch. */
  since: number;
  text: string;
}

/** What each state of a volume of a pod says; null when it waits for nothing. */
export const MOUNT_WORDS: Readonly<Record<string, string | null>> = {
  wanted: 'it has just been asked for',
  resolving: 'its claim, the volume behind it and its plugin are looked up',
  unresolved: 'it cannot be looked up',
  waitingForDevice: 'its device is not ready',
  publishing: 'its plugin puts it into the pod',
  publishFailed: 'its plugin could not put it into the pod',
  mounted: null,
  republishing: null,
  givenUp: 'the call that was under way when the pod ended has not come back',
  found: null,
  unpublishing: 'its plugin takes it out of the pod',
  unpublishFailed: 'its plugin could not take it out of the pod',
  gone: null,
};

/** The same of a device. */
export const DEVICE_WORDS: Readonly<Record<string, string | null>> = {
  wanted: 'has just been asked for',
  found: 'was made ready by an earlier agent, and is again',
  attaching: 'is waited for to be attached',
  attachFailed: 'is not attached',
  staging: 'is made ready by its plugin',
  stageFailed: 'could not be made ready',
  ready: null,
  expanding: null,
  givenUp: 'is still in a call that nobody waits for any more',
  unstaging: 'is given back first',
  unstageFailed: 'could not be given back',
  gone: null,
};

/** What volumes of a pod wait for, in the order of their names; those that wait for nothing are left out. */
export function volumeWaits({ mounts, devices }: VolumeManagerState, uid: string): VolumeWait[] {
  const waits: VolumeWait[] = [];
  for (const { value, context } of Object.values(mounts)) {
    if (context.uid !== uid) continue;
    const words = MOUNT_WORDS[statePath(value)] ?? null;
    if (words === null) continue;
    const volume = context.volume || (context.known?.name ?? '');
    const device = value === 'waitingForDevice' ? devices[context.known?.device ?? ''] : undefined;
    const text = device === undefined || isReady(device) ? sentence(words, context) : deviceSentence(device);
    waits.push({ volume, since: (device ?? { context }).context.since, text });
  }
  return waits.sort((a, b) => (a.volume < b.volume ? -1 : a.volume > b.volume ? 1 : 0));
}

/** For people: `volume data: its plugin puts it into the pod since ...`. */
export function waitText({ volume, since, text }: VolumeWait): string {
  return `volume ${volume}: ${text}, since ${moment(since)}`;
}

function isReady({ value }: Place<DeviceContext>): boolean {
  return value === 'ready' || value === 'expanding';
}

function deviceSentence({ value, context }: Place<DeviceContext>): string {
  return sentence(`its device ${context.device} ${DEVICE_WORDS[statePath(value)] ?? 'is ready'}`, context);
}

function sentence(words: string, { problem, retryAt }: Pick<MountContext, 'problem' | 'retryAt'>): string {
  const why = problem === null ? '' : ` (${problem.text.trimEnd()})`;
  return `${words}${why}${retryAt === null ? '' : `; next try at ${moment(retryAt)}`}`;
}
