import { handleOf } from '../world/storage/storage-objects.ts';
import type { World } from '../world/world.ts';
import { CsiBook, podOf } from './csi-book.ts';
import type { Rule } from './rule.ts';

/** A volume with which nothing is wrong is published within so long, ms: an attachment takes some looks and delays. */
const SOON_MS = 20_000;

/** Faults that hold up more than one volume. */
const WIDE: readonly string[] = [
  ...['api', 'agent-crash', 'agent-stop', 'worker-crash', 'crash-at-effect', 'attach', 'csi-driver', 'shutdown', 'clock'],
  ...['journal-full', 'host', 'stale-list', 'watch-late', 'watch'],
];

/** A volume that is stuck is alone with that. */
export const othersGoOn: Rule = {
  name: "one stuck volume holds up neither its pod's others nor another pod's",
  source: 'kubelet operation executor: one operation at once for each volume and pod, all others go on',
  begin: ({ world, say }) => {
    /** Volumes that are asked for, by pod and claim, and when. */
    const waits = new Set<string>();
    const book = new CsiBook();
    const has = (uid: string, handle: string): boolean =>
      [...book.published].some(([volume, places]) => volume.endsWith(`^${handle}`) && [...places].some((path) => podOf(path) === uid));
    return {
      on: (fact) => {
        book.take(fact);
        if (fact.f === 'csi' && fact.change === 'acted' && fact.call === 'NodePublishVolume')
          waits.delete(`${podOf(fact.path)} ${fact.handle}`);
        if (fact.f !== 'effect' || fact.effect.type !== 'host.SetUpVolumes') return;
        const { uid, effect } = fact;
        const spec = world.workload.planOf(uid)?.spec;
        for (const { name } of effect.params.volumes) {
          const claim = spec?.volumes?.find((volume) => volume.name === name)?.persistentVolumeClaim?.claimName;
          if (claim === undefined) continue;
          const id = `${uid} ${handleOf(claim)}`;
          if (waits.has(id) || has(uid, handleOf(claim))) continue;
          waits.add(id);
          const { now } = world.time;
          const look = (): void => {
            const late = waits.delete(id) && isWell(world, claim, now) && isWanted(world, uid);
            if (late) say(`volume ${name} of ${uid} (${handleOf(claim)}) is not there after ${SOON_MS} ms`);
          };
          world.time.after(SOON_MS, world.time.world, look, false);
        }
      },
    };
  },
};

/** Nothing went wrong with this claim's volume since then, or with all of them. */
function isWell({ plan, time }: World, name: string, since: number): boolean {
  const claim = plan.claims?.find((each) => each.name === name);
  // Another pod may have it alone, and one that waits is tried again after a delay.
  if (claim === undefined || claim.mode === 'ReadWriteOncePod' || claim.boundAt > since) return false;
  return !plan.faults.some((fault) => {
    const span = 'for' in fault ? fault.for : 0;
    // What failed before is tried again after a delay that grows.
    if (fault.from > time.now || fault.from + span + 150_000 < since) return false;
    if (fault.kind === 'csi') return fault.handle === undefined || fault.handle === handleOf(name);
    return WIDE.includes(fault.kind);
  });
}

/** The pod is there and does not end. */
function isWanted({ api }: World, uid: string): boolean {
  const pod = api.list().find(({ metadata }) => metadata?.uid === uid);
  return pod !== undefined && pod.metadata?.deletionTimestamp === undefined && pod.status?.phase === 'Pending';
}
