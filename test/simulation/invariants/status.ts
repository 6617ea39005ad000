import type { PodReport } from '../../../actors/pods/shard/shard-protocol.ts';
import { statePath } from '../../../machines/machine-step/step.ts';
import type { ContainerStatus, Pod, PodStatus } from '../../../machines/protocol/api-types.ts';
import { CONFIG_MIRROR } from '../../../machines/sources/annotations.ts';
import { isOwnEnding } from '../../../machines/status/node-endings.ts';
import type { World } from '../world/world.ts';
import type { Fact } from '../world/facts.ts';
import { endedLives } from './book.ts';
import type { Book } from './book.ts';
import type { Rule } from './rule.ts';

const isTerminal = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';

/** What is told of orphans, and while a pod's remains are removed, is shown to nobody: the API's object is gone by then. */
function isShown({ source, report }: Extract<Fact, { f: 'report' }>): boolean {
  return source !== 'orphan' && report.state !== 'terminated.removing' && report.state !== 'terminated.finished';
}

/** The API has no such pod any more: only a list that lags behind told the agent of it, and its patches find nothing. */
function isGone({ api }: World, { source, uid }: Extract<Fact, { f: 'report' }>): boolean {
  return source === 'api' && !api.list().some(({ metadata }) => metadata?.uid === uid);
}

function all(status: PodStatus): ContainerStatus[] {
  return [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
}

/** An agent without the journal of then has the API server's word alone, and that is an old one: it may be heard of later only, when the runtime answers. */
function isForgotten(world: World, { lastAgent }: Book, endedAt: number): boolean {
  return world.listsLaggedSince(lastAgent) && world.memoryLostSince(endedAt);
}

/** UID of the pod that the object shows: a mirror pod shows a static one, each of its lives. */
function shown({ metadata }: Pod): string {
  return metadata?.annotations?.[CONFIG_MIRROR] ?? metadata?.uid ?? '';
}

/** A pod that has ended does not come back. */
export const phaseIsFinal: Rule = {
  name: 'a terminal phase is final',
  source: 'Pod Lifecycle, "Pod phase": Succeeded: "will not be restarted"; core/v1 PodPhase',
  begin: ({ world, book, say }) => {
    const ended = new Map<string, { phase: string; at: number }>();
    // How lives that are over ended, as the API still says: an agent whose list lags has an older word, and its patch may leave the phase out.
    const stands = new Map<string, string>();
    let isDead = false;
    const see = (where: string, uid: string, phase: string | undefined): void => {
      const key = `${where} ${uid}`;
      if (stands.get(key) === phase && world.listsLag) return;
      stands.delete(key);
      // A patch that was on its way when the agent died is a word of the life that is over.
      if (isDead && where === 'API' && isTerminal(phase) && world.workload.planOf(uid)?.source !== 'api') {
        stands.set(key, phase ?? '');
        return;
      }
      const before = ended.get(key);
      // Who made another end of an old word hears of the one that stands, and tells that (kubelet: "API server shows terminal phase").
      const corrected = isTerminal(phase) && ended.get(`API ${uid}`)?.phase === phase;
      if (before !== undefined && phase !== before.phase && !corrected && !isForgotten(world, book, before.at))
        say(`${key}: ${before.phase} becomes ${phase ?? 'nothing'}`);
      if (isTerminal(phase)) ended.set(key, { phase: phase ?? '', at: world.time.now });
      else if (before !== undefined) ended.delete(key);
    };
    return {
      on: (fact) => {
        if (fact.f === 'agent') isDead = fact.change === 'crashed';
        if (fact.f === 'report' && isShown(fact) && !isGone(world, fact) && !isForNow(fact.report))
          see('report', fact.uid, fact.report.status.phase);
        // A patch carried out again overwrites what came after it; the agent sees that, and mends it.
        if (fact.f === 'api' && fact.repeated) ended.delete(`API ${shown(fact.pod)}`);
        if (fact.f === 'api' && fact.type === 'DELETED') ended.delete(`API ${shown(fact.pod)}`);
        if (fact.f === 'api' && fact.type !== 'DELETED') see('API', shown(fact.pod), fact.pod.status?.phase);
        // The agent dies, the API server has not heard of the end, and there never was a container by which the next agent could tell it.
        if (fact.f === 'agent' && fact.change === 'crashed')
          for (const key of [...ended.keys()]) {
            const [where, uid = ''] = key.split(' ');
            const ran = [...book.containers.values()].some((container) => container.uid === uid);
            if (where === 'report' && !ran && !ended.has(`API ${uid}`)) ended.delete(key);
          }
        const over = endedLives(fact, world);
        if (over === null) return;
        for (const [key, { phase }] of [...ended]) {
          const [where, uid = ''] = key.split(' ');
          if (!over(uid)) continue;
          ended.delete(key);
          if (where === 'API') stands.set(key, phase);
        }
      },
    };
  },
};

/**
 * What is told of a pod that the node ends for its own sake while containers may still run is shown to nobody yet: how they end decides
 * (kubelet's mergePodStatus and generateAPIPodStatus).
 */
function isForNow({ state, status }: PodReport): boolean {
  return !state.startsWith('terminated.') && isOwnEnding(status.reason ?? '');
}

/**
 * A new agent has counts from the API server and from the runtime (kubelet, too), and no others. What the API server, which was away, never
 * heard of containers that have been removed since, is known to nobody and was shown to nobody: it counts on from what is shown.
 */
function forgetUnheard({ api, runtime }: World, counts: Map<string, number>): void {
  const records = [...runtime.core.containers.byId.values()];
  const shown = new Map(api.list().map((pod) => [pod.metadata?.uid ?? '', all(pod.status ?? {})]));
  for (const [key, count] of counts) {
    const [uid = '', name = ''] = key.split('/');
    const heard = shown.get(uid)?.find((status) => status.name === name)?.restartCount;
    const there = records.filter(({ sandbox, metadata }) => sandbox.metadata.uid === uid && metadata.name === name);
    if (heard !== undefined && heard < count)
      counts.set(key, Math.min(count, Math.max(heard, ...there.map(({ metadata }) => metadata.attempt))));
  }
}

/** Restarts are counted upwards. */
export const restartsAreCounted: Rule = {
  name: 'a restart count never goes down',
  source: 'core/v1 ContainerStatus.restartCount',
  begin: ({ world, book, say }) => {
    /** Of containers that truly ran, whoever tells of them. */
    const counts = new Map<string, number>();
    /** What this agent's workers told, of whatever they took for a restart: the next one hears it from the main thread. */
    const told = new Map<string, number>();
    // Of containers that are removed the API server's word alone tells, and that may be an old one.
    const isInOldListAlone = (uid: string, name: string): boolean =>
      world.listsLag && !book.of(uid, name).some(({ record }) => world.runtime.core.containers.byId.has(record.id));
    return {
      on: (fact) => {
        const over = endedLives(fact, world);
        for (const map of [counts, told])
          if (over !== null) for (const key of [...map.keys()]) if (over(key.split('/')[0] ?? '')) map.delete(key);
        if (fact.f === 'agent') told.clear();
        if (fact.f === 'agent' && fact.change === 'started') forgetUnheard(world, counts);
        if (fact.f !== 'report' || !isShown(fact)) return;
        for (const { name, restartCount, containerID } of all(fact.report.status)) {
          const key = `${fact.uid}/${name}`;
          if (isInOldListAlone(fact.uid, name)) counts.delete(key);
          const before = Math.max(counts.get(key) ?? 0, told.get(key) ?? 0);
          told.set(key, restartCount);
          if (restartCount < before) say(`${key}: ${before} becomes ${restartCount}`);
          // One that was made and removed again without ever running was no restart.
          const known = book.containers.get((containerID ?? '').replace(/^.*:\/\//, ''));
          // And while another is made, the status still names the one before, with the count of the next.
          const ran = known !== undefined && known.startedAt !== null;
          if (ran && known.record.metadata.attempt >= restartCount) counts.set(key, restartCount);
        }
      },
    };
  },
};

/** A status names only containers that the runtime once had, and says that one runs only when it did. */
export const statusIsTrue: Rule = {
  name: 'no status tells of a container that never was',
  source: 'core/v1 ContainerStatus.containerID, ContainerState',
  begin: ({ book, say }) => ({
    on: (fact) => {
      if (fact.f !== 'report' || !isShown(fact)) return;
      for (const { name, state, lastState, containerID } of all(fact.report.status)) {
        const ids = [containerID, state?.terminated?.containerID, lastState?.terminated?.containerID];
        for (const id of ids) {
          if (id === undefined || id === '') continue;
          const known = book.containers.get(id.replace(/^.*:\/\//, ''));
          if (known === undefined || known.uid !== fact.uid || known.name !== name) say(`${fact.uid}/${name}: ${id}`);
        }
        const now = book.containers.get((containerID ?? '').replace(/^.*:\/\//, ''));
        if (state?.running !== undefined && (now === undefined || now.startedAt === null))
          say(`${fact.uid}/${name} is said to run and never did`);
        // What was waiting for its next start when the pod ended is told as not located (kubelet TerminatePod).
        const { exitCode: code, reason } = state?.terminated ?? {};
        if (
          reason !== 'ContainerStatusUnknown' &&
          code !== undefined &&
          now !== undefined &&
          now.exitedAt !== null &&
          now.record.exitCode !== code
        )
          say(`${fact.uid}/${name} is said to have ended with ${code}, and did with ${now.record.exitCode}`);
      }
    },
  }),
};

/** Who waits for a pod to run finds what its hooks have made ready. */
export const runsAfterItsHook: Rule = {
  name: 'a container is told as running when its postStart hook has ended',
  source:
    'Container Lifecycle Hooks: "The Container\'s status is not set to RUNNING until the postStart handler completes"',
  begin: ({ world, book, say }) => ({
    on: (fact) => {
      if (fact.f !== 'report' || !isShown(fact)) return;
      const { initContainers = [], containers = [] } = world.workload.planOf(fact.uid)?.spec ?? {};
      const machines = book.pods.get(fact.uid)?.context.containers;
      for (const { name, state, containerID = '' } of all(fact.report.status)) {
        const machine = machines?.[name];
        if (state?.running === undefined || machine === undefined || machine.context.id === '') continue;
        // The one before it may be told, while nobody is to hear of its end (endIsHidden).
        if (!containerID.endsWith(machine.context.id)) continue;
        const hook = [...initContainers, ...containers].find((c) => c.name === name)?.lifecycle?.postStart;
        if (hook !== undefined && statePath(machine.value) === 'starting.postStart')
          say(`${fact.uid}/${name} is said to run, and its hook goes on`);
      }
    },
  }),
};
