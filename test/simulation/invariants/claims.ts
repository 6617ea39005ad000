import { isTerminalPhase } from '../../../machines/status/phase.ts';
import { handleOf } from '../world/storage/storage-objects.ts';
import type { World } from '../world/world.ts';
import { CsiBook, podOf, volumeOf } from './csi-book.ts';
import type { Rule } from './rule.ts';

/** What a container uses is not taken from under it. */
export const neverUnderALiveContainer: Rule = {
  name: 'no volume is unpublished under a container that lives',
  source:
    'kubelet: volumes of a pod are unmounted when no container of it runs (podWorkers.ShouldPodContainersBeTerminating)',
  begin: ({ book, say }) => ({
    on: (fact) => {
      if (fact.f !== 'csi' || fact.change !== 'asked' || fact.call !== 'NodeUnpublishVolume') return;
      const names = book.running(podOf(fact.path)).map(({ name }) => name);
      if (names.length > 0) say(`${fact.handle} is taken from ${podOf(fact.path)} while ${names.join(', ')} runs`);
    },
  }),
};

/** A container starts when all that its pod has by claims is there. */
export const claimsComeFirst: Rule = {
  name: 'no container starts before the volumes of its claims are there',
  source: 'kubelet SyncPod: WaitForAttachAndMount before containers',
  begin: ({ world, say }) => {
    const csi = new CsiBook();
    return {
      on: (fact) => {
        csi.take(fact);
        if (fact.f !== 'container' || fact.change !== 'started') return;
        for (const { name, persistentVolumeClaim } of world.workload.planOf(fact.uid)?.spec.volumes ?? []) {
          if (persistentVolumeClaim === undefined) continue;
          const handle = handleOf(persistentVolumeClaim.claimName);
          const has = [...csi.published].some(
            ([volume, places]) => volume.endsWith(`^${handle}`) && [...places].some((path) => podOf(path) === fact.uid),
          );
          if (!has) say(`${fact.uid}/${fact.record.metadata.name} starts without its volume ${name}`);
        }
      },
    };
  },
};

/** What the node still has is not detached: its status says so in time. */
export const detachedLast: Rule = {
  name: 'no volume is detached that is still staged or published',
  source: 'core/v1 NodeStatus.volumesInUse; kubelet setNodeVolumesInUseStatus; KCM VerifyVolumeIsSafeToDetach',
  begin: ({ say }) => {
    const book = new CsiBook();
    return {
      on: (fact) => {
        book.take(fact);
        if (fact.f !== 'attachment' || fact.change !== 'detached') return;
        const volume = volumeOf(fact);
        const left = [...(book.staged.get(volume) ?? []), ...(book.published.get(volume) ?? [])];
        if (left.length > 0) say(`${volume} is detached and still at ${left.join(', ')}`);
      },
    };
  },
};

/** After the time of quiet nothing is mounted, staged or attached that no pod wants, and no file tells of it. */
export const claimsAreGone: Rule = {
  name: 'no mount, staging folder or attachment is left',
  source:
    'kubelet volume manager: reconciler unmounts volumes and devices; CSI: vol_data.json is removed with its volume',
  begin: ({ world, say }) => ({
    end: () => {
      const { storage } = world;
      if (storage === null) return;
      const pods = livingPods(world);
      const handles = new Set(
        (world.plan.claims ?? [])
          .filter(({ name }) =>
            [...pods.values()].some((spec) =>
              spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name),
            ),
          )
          .map(({ name }) => handleOf(name)),
      );
      for (const [path, source] of storage.disk.mounts) {
        const uid =
          podOf(path) ||
          (path.includes('/volumeDevices/') && path.includes('/dev/') ? (path.split('/').at(-1) ?? '') : '');
        const handle = source.slice(source.indexOf('^') + 1);
        if (uid !== '' ? !pods.has(uid) : !handles.has(handle)) say(`${source} is still mounted at ${path}`);
      }
      for (const path of storage.disk.entries.keys()) {
        const uid = /\/pods\/([^/]+)/.exec(path)?.[1];
        if (uid !== undefined && path.endsWith('/vol_data.json') && !pods.has(uid)) say(`${path} is left`);
      }
      const held = storage.objects.nodeStatus;
      const wanted = (device: string): boolean => handles.has(device.slice(device.indexOf('^') + 1));
      for (const device of held.volumesInUse)
        if (!wanted(device)) say(`the node's status says that ${device} is in use`);
      for (const { name } of held.volumesAttached) if (!wanted(name)) say(`${name} is still attached`);
      const listed = storage.objects.csiNode.drivers.map(({ name }) => name).sort();
      const there = [...storage.drivers.values()].filter(({ endpoint }) => endpoint !== null).map(({ name }) => name);
      if (String(listed) !== String(there.sort()))
        say(`the CSINode names ${listed.join()}, and there are ${there.join()}`);
    },
  }),
};

/** Pods of the API that have not ended, by UID. */
function livingPods({ api }: World) {
  const living = api.list().filter(({ status }) => !isTerminalPhase(status?.phase));
  return new Map(living.map(({ metadata, spec }) => [metadata?.uid ?? '', spec]));
}
