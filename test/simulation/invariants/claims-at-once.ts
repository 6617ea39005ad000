import { handleOf } from '../world/storage/storage-objects.ts';
import type { World } from '../world/world.ts';
import { CsiBook, podOf } from './csi-book.ts';
import type { Rule } from './rule.ts';

/** A volume with which nothing is wrong is published within so long, ms: an attachment takes some looks and delays. */
const SOON_MS = 20_000;

/** Faults that hold up more than one volume. */
const WIDE: readonly string[] = [
  ...[
    'api',
    'agent-crash',
    'agent-stop',
    'worker-crash',
    'crash-at-effect',
    'attach',
    'csi-driver',
    'shutdown',
    'power',
    'clock',
  ],
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
      [...book.published].some(
        ([volume, places]) => volume.endsWith(`^${handle}`) && [...places].some((path) => podOf(path) === uid),
      );
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
  // Or those with another label.
  if (plan.node.labels === 'all') return false;
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

/** How long a call may go on for a pod that has ended, ms. */
const CALLED_OFF_MS = 40_000;

/** A pod that has ended does not wait for a call that hangs. */
export const hungCallsAreCalledOff: Rule = {
  name: 'no call goes on that puts a volume into a pod that has ended',
  source: 'docs/architecture.md, "What differs from kubelet": kubelet waits for the two minutes of that call',
  begin: ({ world, say }) => {
    const calls = new Map<string, { by: { alive: boolean }; call: string; path: string; at: number }>();
    const ended = new Set<string>();
    return {
      on: (fact) => {
        if (fact.f === 'csi' && fact.change !== 'acted') {
          const id = `${fact.driver} ${fact.n}`;
          if (fact.change === 'answered') calls.delete(id);
          else calls.set(id, { by: fact.by, call: fact.call, path: fact.path, at: world.time.now });
        }
        if (fact.f !== 'report' || !fact.report.state.startsWith('terminated') || ended.has(fact.uid)) return;
        ended.add(fact.uid);
        const { uid } = fact;
        const since = world.time.now;
        const look = (): void => {
          if (hasWide(world, since)) return;
          for (const { by, call, path, at } of calls.values())
            if (by.alive && call === 'NodePublishVolume' && podOf(path) === uid && at <= since)
              say(`${call} at ${path} goes on ${CALLED_OFF_MS} ms after its pod has ended`);
        };
        world.time.after(CALLED_OFF_MS, world.time.world, look, false);
      },
    };
  },
};

/** Something went wrong since then that holds up all. */
function hasWide({ plan, time }: World, since: number): boolean {
  return plan.faults.some(
    (fault) =>
      WIDE.includes(fault.kind) &&
      fault.from <= time.now &&
      fault.from + ('for' in fault ? fault.for : 0) >= since - 60_000,
  );
}
