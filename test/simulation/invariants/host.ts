import type { Rule } from './rule.ts';

/** Volumes stay while a container may use them, and are there before one does. */
export const volumesOutliveContainers: Rule = {
  name: 'no volume goes while a container lives, none starts without',
  source: 'kubelet volume manager: unmounts only what no container of the pod uses; WaitForAttachAndMount before start',
  begin: ({ world, book, say }) => ({
    on: (fact) => {
      if (fact.f === 'host' && fact.effect === 'host.TearDownPod') {
        const names = book.running(fact.uid).map(({ name }) => name);
        if (names.length > 0) say(`volumes of ${fact.uid} go while ${names.join(', ')} runs`);
      }
      if (fact.f !== 'container' || fact.change !== 'started') return;
      const held = world.host.pods.get(fact.uid)?.volumes;
      const wanted =
        world.workload.planOf(fact.uid)?.spec.volumes?.filter(({ emptyDir }) => emptyDir !== undefined) ?? [];
      for (const { name } of wanted)
        if (held?.has(name) !== true) say(`${fact.uid}/${fact.record.metadata.name} starts without its volume ${name}`);
    },
  }),
};

/** A sandbox stands on what its pod needs of the node. */
export const sandboxComesAfterVolumes: Rule = {
  name: 'no sandbox is made before the cgroup and the volumes of its pod are there',
  source: 'kubelet SyncPod: pod cgroup, WaitForAttachAndMount, then the runtime; core/v1 PodReadyToStartContainers',
  begin: ({ world, say }) => ({
    on: (fact) => {
      if (fact.f !== 'effect' || fact.effect.type !== 'cri.RunPodSandbox') return;
      const held = world.host.pods.get(fact.uid)?.volumes;
      // Those of API objects come and go with what people change; the odd one, of git, is never there.
      for (const { name, emptyDir, gitRepo } of world.workload.planOf(fact.uid)?.spec.volumes ?? [])
        if ((emptyDir ?? gitRepo) !== undefined && held?.has(name) !== true)
          say(`${fact.uid} is to have a sandbox and has no volume ${name}`);
      if (![...world.host.cgroups.values()].includes(fact.uid))
        say(`${fact.uid} is to have a sandbox and has no cgroup`);
    },
  }),
};

/** After the time of quiet the node holds nothing of pods that nobody wants, and no volumes of pods that have ended. */
export const nothingIsLeft: Rule = {
  name: 'nothing is left behind',
  source: 'kubelet HandlePodCleanups, cleanupOrphanedPodDirs, cleanupOrphanedPodCgroups; container and sandbox GC',
  begin: ({ world, say }) => ({
    end: () => {
      const { api, workload, runtime, host } = world;
      const wanted = new Set(api.list().map(({ metadata }) => metadata?.uid ?? ''));
      for (const key of workload.staticKeys) wanted.add(workload.uidOf(key) ?? '');
      const ended = new Set(
        api
          .list()
          .filter(({ status }) => status?.phase === 'Succeeded' || status?.phase === 'Failed')
          .map(({ metadata }) => metadata?.uid ?? ''),
      );
      for (const { metadata } of runtime.core.sandboxes.byId.values())
        if (!wanted.has(metadata.uid)) say(`a sandbox of ${metadata.uid}`);
      for (const { sandbox, metadata, state } of runtime.core.containers.byId.values()) {
        if (!wanted.has(sandbox.metadata.uid)) say(`container ${metadata.name} of ${sandbox.metadata.uid}`);
        if (ended.has(sandbox.metadata.uid) && state === 1)
          say(`${metadata.name} of ${sandbox.metadata.uid} runs, though its pod has ended`);
      }
      for (const [uid] of host.pods) if (!wanted.has(uid)) say(`folders of ${uid}`);
      for (const uid of host.cgroups.values()) if (!wanted.has(uid) || ended.has(uid)) say(`the cgroup of ${uid}`);
      // Log folders of a pod whose agent died while it removed it stay: known, and to be mended in housekeeping.
    },
  }),
};
