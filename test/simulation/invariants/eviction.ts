import type { PodStats } from '../../../actors/resources/stats/summary.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { isCriticalPod } from '../../../machines/qos/critical-pod.ts';
import { podRequests } from '../../../machines/qos/pod-resources.ts';
import type { Plan } from '../draw/plan.ts';
import type { Fact } from '../world/facts.ts';
import type { Told } from '../world/usage-edge.ts';
import { GoodEnds } from './own-endings.ts';
import type { Rule } from './rule.ts';
import { shortages } from './shortages.ts';
import type { Shortage } from './shortages.ts';

/** For so long the end of an evicted pod is waited for before the next one may go, ms. */
const WAIT_MS = 40_000;

/** Was it evicted by the node, or refused because the node was short? Then it has failed, whatever its containers would have done. */
export function isEvicted(shown: Pod): boolean {
  return shown.status?.reason === 'Evicted';
}

/** An order to evict; `resource`: what is short, null when the pod breaks a limit of its own. */
export interface Eviction {
  uid: string;
  pod: Pod;
  message: string;
  resource: string | null;
}

/** The order of eviction that a fact is; null when it is none. */
export function evictionOf(fact: Fact): Eviction | null {
  if (fact.f !== 'step' || fact.message.type !== 'pod.terminate' || fact.message.order.reason !== 'Evicted')
    return null;
  const message = fact.message.order.message ?? '';
  const resource = /low on resource: ([\w-]+)\./.exec(message)?.[1] ?? null;
  return { uid: fact.uid, pod: fact.after.context.pod, message, resource };
}

/** Who is evicted, when, and how many at a time. */
export const evictionIsOrderly: Rule = {
  name: 'the node evicts only when it is short, one pod at a time, each once, and never a critical one',
  source: 'kubelet eviction manager: "we kill at most a single pod during each eviction interval"; IsCriticalPod',
  begin: ({ world, book, say }) => {
    let recent: { uid: string; at: number }[] = [];
    let evicted = new Set<string>();
    return {
      on: (fact) => {
        if (fact.f === 'agent') [recent, evicted] = [[], new Set()];
        const eviction = evictionOf(fact);
        if (eviction === null) return;
        const { uid, pod, resource } = eviction;
        const { now } = world.time;
        if (isCriticalPod(pod)) say(`${uid} is critical, and is evicted`);
        if (evicted.has(uid)) say(`${uid} is evicted again`);
        evicted.add(uid);
        recent = recent.filter(({ at }) => now - at < WAIT_MS);
        if (resource !== null)
          for (const last of recent)
            if (last.uid !== uid && book.running(last.uid).length > 0)
              say(`${uid} is evicted ${now - last.at} ms after ${last.uid}, which still runs`);
        recent.push({ uid, at: now });
      },
    };
  },
};

/** No pod goes but for a shortage that was seen after the one before it had gone, and after the node gave back what it could. */
export const evictionsAreNeeded: Rule = {
  name: 'no pod goes for a shortage that is over, or that the last eviction was for',
  source:
    'kubelet synchronize: thresholdsMet after reclaimNodeLevelResources; thresholdsUpdatedStats ("the stats have been updated since the last observation")',
  begin: ({ world, say }) => {
    let last = { at: -Infinity, asOf: -Infinity };
    return {
      on: (fact) => {
        if (fact.f === 'agent') last = { at: -Infinity, asOf: -Infinity };
        const eviction = evictionOf(fact);
        if (eviction === null || eviction.resource === null) return;
        const { uid, resource } = eviction;
        // The newest is what the pods were ranked by; the look before it is what was decided by.
        const told = world.usage.told.at(-2);
        const why = `${uid} is evicted for ${resource}`;
        if (told === undefined || told.at <= last.at) return say(`${why} without another look`);
        const shortBy = (each: Told) => shortages(each.node, world.plan.node.disks, 'reclaim');
        const isShort = (each: Told): boolean => shortBy(each).some((short) => short.resource === resource);
        // What was given back is enough when nothing at all is short any more, whatever it was that ran short first.
        const first = world.usage.told.at(-3);
        const gaveTooLittle = first !== undefined && first.at > last.at && isShort(first) && shortBy(told).length > 0;
        if (!isShort(told) && !gaveTooLittle) say(`${why}, of which there is enough`);
        if (told.asOf <= last.asOf) say(`${why} by stats that are as old as those of the last eviction`);
        last = { at: world.time.now, asOf: told.asOf };
      },
    };
  },
};

/** Who of the pods that were measured has to go. */
export const victimsAreInOrder: Rule = {
  name: 'the pod that goes is the first in the order of eviction of those that may',
  source:
    'kubelet rankMemoryPressure, rankDiskPressureFunc (over requests, priority, how much over), rankPIDPressure (priority, how many)',
  begin: ({ world, book, say }) => ({
    on: (fact) => {
      const eviction = evictionOf(fact);
      const told = world.usage.told.at(-1);
      if (eviction === null || eviction.resource === null || told === undefined) return;
      const { uid, resource } = eviction;
      const stats = new Map((told.pods ?? []).map((each) => [each.podRef.uid, each]));
      const own = stats.get(uid);
      // Of a pod without stats nothing is known: it goes before all others.
      if (own === undefined) return;
      const { disks } = world.plan.node;
      const seen = [world.usage.told.at(-2) ?? told, told].flatMap(({ node }) => shortages(node, disks, 'reclaim'));
      const wrong = seen
        .filter((each) => each.resource === resource)
        .map((short) => {
          const victim = standing(eviction.pod, own, short, disks);
          for (const [other, its] of stats) {
            const known = book.pods.get(other);
            if (other === uid || known === undefined || known.state.startsWith('terminat')) continue;
            const { pod } = known.context;
            const place = standing(pod, its, short, disks);
            if (!isCriticalPod(pod) && isBefore(place, victim))
              return `${uid} (${victim.join(', ')}) is evicted for ${resource} before ${other} (${place.join(', ')})`;
          }
          return null;
        });
      // Several signals can be short of the same, each with an order of its own.
      if (wrong.length > 0 && !wrong.includes(null)) say(wrong[0] ?? '');
    },
  }),
};

/** What decides, the least first; bytes, files or processes. */
function standing(pod: Pod, stats: PodStats, { resource, fs }: Shortage, disks: Plan['node']['disks']): number[] {
  const priority = pod.spec?.priority ?? 0;
  if (resource === 'pids') return [priority, -(stats.process_stats?.process_count ?? 0)];
  const requests = podRequests(pod, { excludeOverhead: true });
  const asked = (name: string): number => Number(requests[name] ?? 0n) / 1e9;
  if (resource === 'memory') {
    const used = stats.memory?.workingSetBytes ?? 0;
    return [used > asked('memory') ? 0 : 1, priority, asked('memory') - used];
  }
  // Layers and the rest lie on different disks, unless all is on one.
  const layers = disks === 'split' ? fs !== 'imagefs' : disks !== 'images' || fs !== 'nodefs';
  const rest = disks === 'split' ? fs !== 'imagefs' : disks !== 'images' || fs === 'nodefs';
  const of = (field: 'usedBytes' | 'inodesUsed'): number => {
    const parts = stats.containers.map(
      ({ rootfs, logs }) => (layers ? (rootfs?.[field] ?? 0) : 0) + (rest ? (logs?.[field] ?? 0) : 0),
    );
    const volumes = rest ? (stats.volume ?? []).map((volume) => volume[field] ?? 0) : [];
    return [...parts, ...volumes].reduce((sum, each) => sum + each, 0);
  };
  const used = of(resource === 'inodes' ? 'inodesUsed' : 'usedBytes');
  // Of inodes nobody asks; kubelet takes the requested bytes off all the same.
  const exceeds = used > (resource === 'inodes' ? 0 : asked('ephemeral-storage'));
  return [exceeds ? 0 : 1, priority, asked('ephemeral-storage') - used];
}

function isBefore(a: readonly number[], b: readonly number[]): boolean {
  const first = a.findIndex((value, i) => value !== b[i]);
  return first >= 0 && (a[first] ?? 0) < (b[first] ?? 0);
}

/** An evicted pod ends as it was told to. */
export const evictedPodsFail: Rule = {
  name: 'an evicted pod fails with its reason, or has succeeded, and stays so',
  source:
    'core/v1 PodStatus.reason: "A brief CamelCase message indicating details about why the pod is in this state. e.g. \'Evicted\'"',
  begin: ({ say }) => {
    const evicted = new Map<string, boolean>();
    const good = new GoodEnds();
    return {
      on: (fact) => {
        if (fact.f === 'finished') {
          evicted.delete(fact.uid);
          good.forget(fact.uid);
        }
        const eviction = evictionOf(fact);
        if (eviction !== null && fact.f === 'step') {
          // One that ended before goes on to its own end.
          if (fact.before.context.termination === null && fact.before.context.status?.phase === 'Running')
            evicted.set(fact.uid, eviction.resource !== null);
        }
        if (fact.f !== 'report' || !evicted.has(fact.uid)) return;
        const { phase, reason, conditions } = fact.report.status;
        // One that broke a limit of its own was not disrupted (kubelet sets no condition then).
        const target = conditions?.find(({ type }) => type === 'DisruptionTarget')?.status ?? '';
        const wanted = evicted.get(fact.uid) === true ? 'True' : '';
        const told = (phase === 'Failed' && reason === 'Evicted') || good.tells(fact.uid, fact.report);
        if (!told || target !== wanted)
          say(`${fact.uid} was evicted and is told as ${phase ?? ''}, ${reason ?? ''}, DisruptionTarget ${target}`);
      },
    };
  },
};
