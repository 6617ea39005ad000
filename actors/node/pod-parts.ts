import { trackedPod } from '../../machines/supervisor/pod-table.ts';
import { PodAllocations } from '../resources/admission/pod-allocations.ts';
import { agentVersion } from '../configure/configuration/version.ts';
import { restoreMemory } from '../record/journal/restore-memory.ts';
import { ShardPool } from '../pods/shard/shard-pool.ts';
import { Supervisor } from '../pods/supervisor/supervisor.ts';
import { handleFromShard } from './from-shard.ts';
import type { NodeGround } from './node-ground.ts';
import type { NodeParts } from './node-parts.ts';

/** The worker threads in which pods live. What they say goes to the part that it is for, and to the embedder. */
export function poolOf(
  { options, settings, host, metrics, log, now, journals }: NodeGround,
  parts: NodeParts,
): ShardPool {
  const { config, settings: own, endpoint, threads, workerLog } = options;
  return new ShardPool({
    shards: own.shards,
    ...(threads !== undefined && { threads }),
    task: {
      settings,
      endpoint,
      imageEndpoint: config.imageServiceEndpoint,
      containerLogsDir: host.containerLogsDir,
      journal: journals === null ? null : { dir: journals.dir, maxBytes: journals.shard, agent: agentVersion() },
      log: workerLog,
    },
    log,
    metrics,
    onMessage: (shard, message) => {
      handleFromShard(parts, shard, message);
      if (message.t === 'report') options.onPod?.(message.report);
    },
    onReplaced: (shard) => {
      parts.supervisor.take({ type: 'shardReplaced', at: now(), shard });
      for (const pod of parts.supervisor.started()) if (pod.shard === shard) parts.pleg.observe(pod.uid);
    },
  });
}

/** The supervisor, with what the agent before this one remembered of its pods. */
export function supervisorOf({ options, log, now, journals }: NodeGround, parts: NodeParts): Supervisor {
  const remembered = journals === null ? new Map() : restoreMemory(journals.dir);
  const supervisor: Supervisor = new Supervisor({
    shards: options.settings.shards,
    log,
    now,
    store: parts.store,
    runtimeState: () => parts.runtime.state,
    held: (uid) => parts.pleg.holds(uid),
    observe: (uid) => parts.pleg.observe(uid),
    remembered: (uid) => {
      const memory = remembered.get(uid)?.memory ?? null;
      const pod = trackedPod(supervisor.context.pods, uid)?.pod;
      return pod === undefined ? memory : parts.allocations.remembered(pod, memory);
    },
    ...(journals !== null && {
      journal: { dir: journals.dir, maxBytes: journals.supervisor, agent: agentVersion(), log },
    }),
    post: (shard, uid, message) => {
      parts.podMetrics.posted(uid, message);
      parts.pool.post(shard, { t: 'pod', uid, message });
    },
  });
  return supervisor;
}

/** The keeper of what resources pods were given; a change of them reaches the pod as a change of its source would. */
export function allocationsOf({ options, settings, log, now, metrics }: NodeGround, parts: NodeParts): PodAllocations {
  return new PodAllocations({
    rootDir: options.flags.rootDir,
    settings,
    log,
    now,
    metrics,
    record: (event) => parts.events.record(event),
    fits: (pod) => parts.admission?.fits(pod) ?? { admit: true },
    recount: (pod) => parts.admission?.recount(pod),
    sourcesReady: () => parts.sources?.allSourcesReady() ?? false,
    changed: (pod) => {
      const { supervisor } = parts;
      const source = trackedPod(supervisor.context.pods, pod.metadata?.uid ?? '')?.source ?? 'orphan';
      if (source === 'orphan') return;
      supervisor.take({ type: 'config', at: now(), update: { op: 'UPDATE', source, pods: [pod] } });
    },
  });
}
