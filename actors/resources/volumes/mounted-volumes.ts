import { join } from 'node:path';
import type { MountedVolume } from '../../../machines/protocol/volume-traits.ts';
import type { VolumeManagerState } from '../../../machines/volume-manager/volume-manager-state.ts';
import { groupOf } from '../../../machines/volumes/pv-annotations.ts';
import type { ClaimedVolume } from '../stats/volume-usage.ts';
import { countedVolume } from './counted-volume.ts';
import type { LookedUp } from './looked-up.ts';
import type { VolumeCalls } from './volume-calls.ts';

/** How long a driver may take to say how much of a volume is used, ms. */
const USAGE_MS = 10_000;

/** What containers must know of a volume of a pod that is there, at this path. @param selinux it is on */
export async function traitsOf(
  { plugin, spec, seLinuxLabel }: LookedUp,
  path: string,
  selinux: boolean,
): Promise<Omit<MountedVolume, 'path'>> {
  const group = groupOf(spec.pv);
  // What is mounted with the pod's label has it already.
  const mayBe = selinux && seLinuxLabel === '' && !spec.readOnly && spec.mode !== 'Block';
  const relabel = mayBe && (await plugin.relabels?.(spec, path)) === true;
  return { ...(group !== '' && { group }), ...(relabel && { relabel }) };
}

/** Volumes of a pod whose use can be told. */
export function measuredVolumes(
  { mounts }: VolumeManagerState,
  calls: Pick<VolumeCalls, 'of'>,
  uid: string,
): ClaimedVolume[] {
  const found: ClaimedVolume[] = [];
  for (const { value, context } of Object.values(mounts)) {
    const { volume, path } = context;
    if (context.uid !== uid || (value !== 'mounted' && value !== 'republishing')) continue;
    const its = calls.of(uid, volume);
    if (its?.plugin.usage === undefined) continue;
    const { plugin, spec } = its;
    const usage = async () => {
      const bound = spec.mode === 'Block' ? await boundAt(its, uid) : path;
      return (await plugin.usage?.({ spec, path: bound, signal: AbortSignal.timeout(USAGE_MS) })) ?? null;
    };
    const source = plugin.countedBy?.(spec) ?? (spec.mode === 'Block' ? 'block' : 'statfs');
    found.push({ name: volume, path, source, usage });
  }
  return found;
}

/** Plugins of the volumes that are wanted, and of those that are there, once for each; for metrics. */
export function pluginsOfVolumes(
  { mounts }: VolumeManagerState,
  calls: Pick<VolumeCalls, 'of'>,
): { wanted: string[]; there: string[] } {
  const all = Object.values(mounts).filter(({ context }) => context.known !== null);
  const pluginsOf = (those: typeof all): string[] =>
    those.map(({ context }) => countedVolume(calls, context)?.plugin ?? '');
  const leaving = new Set<unknown>(['found', 'givenUp', 'unpublishing', 'unpublishFailed', 'gone']);
  return {
    wanted: pluginsOf(all.filter(({ value }) => !leaving.has(value))),
    there: pluginsOf(all.filter(({ context }) => context.path !== '' || context.mayBeThere)),
  };
}

/** Where the device of a pod's block volume is bound. */
async function boundAt({ plugin, spec }: LookedUp, uid: string): Promise<string> {
  return join((await plugin.globalMapPath?.({ name: spec.name, spec })) ?? '', uid);
}
