import { statePath } from '../machine-step/step.ts';
import type { VolumeContext } from '../volumes/volume-context.ts';
import type { Cause } from './explanation.ts';
import type { View } from './view.ts';
import { machineSince } from './view.ts';
import { failed } from './words.ts';
import { moment } from '../values/spoken-time.ts';

interface VolumeView {
  context: VolumeContext;
  /** E.g. `volume "conf" (configMap)`. */
  label: string;
}

/** What each state of a volume machine says of it: one entry for each state of its chart. */
export const VOLUME_REASONS: Readonly<Record<string, (of: VolumeView) => string>> = {
  'pending.waitForAttachOrMount': ({ label }) => `${label} waits to be set up`,
  'pending.mounting': ({ label, context }) =>
    context.failures === 0
      ? `${label} is being set up${content(context)}`
      : `${label} is being set up again; before, it ${failedWords(context)}`,
  'pending.mountFailed': ({ label, context }) => `${label}: its set-up ${failedWords(context)}${nextTry(context)}`,
  'pending.invalid': ({ label, context }) =>
    `${label} cannot be set up as it is defined (${reasonOf(context)}); it is not tried again until the spec changes`,
  'mounted.upToDate': ({ label }) => `${label} is set up`,
  'mounted.remountRequired': ({ label }) => `${label} is set up, and waits to be set up again: it has changed`,
  'mounted.remounting': ({ label }) => `${label} is set up, and is being set up again`,
  'mounted.remountFailed': ({ label, context }) =>
    `${label} still shows what it did before: its renewal ${failedWords(context)}${nextTry(context)}`,
  'leaving.unmounting': ({ label }) => `${label} is being unmounted and removed`,
  'leaving.unmountFailed': ({ label, context }) => `${label}: its removal ${failedWords(context)}${nextTry(context)}`,
  'leaving.unmounted': ({ label }) => `${label} is gone`,
};

const SETTLED = new Set(['mounted.upToDate', 'leaving.unmounted']);

/** What each volume of the pod that is not as it should be says; the failing ones first. */
export function volumeCauses(view: View, only: (state: string) => boolean = () => true): Cause[] {
  const causes: { rank: number; cause: Cause }[] = [];
  for (const [name, { value, context }] of Object.entries(view.context.volumes)) {
    const state = statePath(value);
    if (SETTLED.has(state) || !only(state)) continue;
    const text = VOLUME_REASONS[state]?.({ context, label: `volume "${name}" (${context.kind})` }) ?? '';
    const at = machineSince(view, `volume/${name}`) || view.history.state.at;
    const rank = context.failures > 0 ? 0 : state === 'pending.mounting' ? 1 : 2;
    causes.push({ rank, cause: { at, text: view.mask(text), kind: 'volume' } });
  }
  return causes.sort((a, b) => a.rank - b.rank).map(({ cause }) => cause);
}

/** What volumes wait for that the main thread sets up. */
export function waitCauses({ volumeWaits = [], mask }: View): Cause[] {
  return volumeWaits.map(({ volume, since, text }) => ({
    ...{ at: since, text: mask(`volume "${volume}": ${text}`), kind: 'volume' as const },
  }));
}

function content({ kind }: VolumeContext): string {
  return kind === 'configMap' || kind === 'secret' || kind === 'projected'
    ? ': what it shows may not be there yet'
    : '';
}

function failedWords(context: VolumeContext): string {
  return failed({ count: context.failures, message: reasonOf(context) });
}

/** The volume is named already. */
function reasonOf({ error }: VolumeContext): string {
  return error.replace(/^MountVolume\.SetUp failed for volume "[^"]+" : /, '');
}

function nextTry({ retryAt }: VolumeContext): string {
  return retryAt === null ? '' : `; next try at ${moment(retryAt)}`;
}
