import type { Pod } from '../../../machines/protocol/api-types.ts';
import { configuredGroups, groupByPriority } from '../../../machines/shutdown/shutdown-groups.ts';
import { SHUTDOWN_CONFIG } from '../world/logind-edge.ts';
import { endedWell, GoodEnds } from './own-endings.ts';
import type { Rule } from './rule.ts';

/** How late a pod may hear of a shutdown that was announced, ms: an agent that is away hears of it when it comes back. */
const LATE_MS = 2_000;
/** After a group's time the next one has its turn; rounding, and looks that come now and then, ms. */
const SLACK_MS = 100;
/** For so long the API server is told before the lock is given back, ms (machines/shutdown). */
const TELLING_MS = 5_000;

const GROUPS = configuredGroups(
  { shutdownGracePeriod: 0, shutdownGracePeriodCriticalPods: 0, ...SHUTDOWN_CONFIG },
  true,
);

/** Was it ended, or refused, because its node shut down? Then it has failed, whatever its containers would have done. */
export function wentDown(shown: Pod): boolean {
  return shown.status?.reason === 'Terminated' || shown.status?.reason === 'NodeShutdown';
}

function groupOf(pod: Pod): number {
  const all = groupByPriority(GROUPS, [{ uid: '', namespace: '', name: '', priority: pod.spec?.priority ?? 0 }]);
  return all.findIndex(({ pods }) => pods.length > 0);
}

/** Who ends when the machine goes down, and in which order. */
export const shutdownIsOrderly: Rule = {
  name: 'pods end for a shutdown when there is one, and those of a higher group when the lower ones have ended or had their time',
  source: 'KubeletConfiguration.shutdownGracePeriodByPodPriority; KEP-2712 "Pod Priority based graceful node shutdown"',
  begin: ({ world, book, say }) => {
    let told: { uid: string; group: number; at: number }[] = [];
    return {
      on: (fact) => {
        if (fact.f === 'agent' || (fact.f === 'logind' && fact.change !== 'released')) told = [];
        if (fact.f !== 'step' || fact.message.type !== 'pod.terminate') return;
        if (fact.message.order.reason !== 'Terminated') return;
        const { now } = world.time;
        const { uid } = fact;
        const group = groupOf(fact.after.context.pod);
        const announced = world.plan.faults.some(
          (fault) => fault.kind === 'shutdown' && fault.from <= now && now <= fault.from + fault.for + LATE_MS,
        );
        if (!announced) say(`${uid} is ended for a shutdown, and there is none`);
        for (const other of told) {
          const time = (GROUPS[other.group]?.seconds ?? 0) * 1000;
          if (other.group >= group || now - other.at + SLACK_MS >= time || book.running(other.uid).length === 0)
            continue;
          say(
            `${uid} of group ${group} is ended ${now - other.at} ms after ${other.uid} of group ${other.group}, which still runs`,
          );
        }
        told.push({ uid, group, at: now });
      },
    };
  },
};

/** Such a pod ends as it was told to, and is sent nothing more meanwhile. */
export const shutDownPodsFail: Rule = {
  name: 'a pod that is ended for a shutdown fails with its reason, or has succeeded, and is not ready any more',
  source: 'KEP-2000 "the status of the pod is set to Failed, with reason Terminated"; KEP-3329 DisruptionTarget',
  begin: ({ say }) => {
    /** Those that were ended so, and whether they have told of it. */
    const ended = new Map<string, boolean>();
    const good = new GoodEnds();
    return {
      on: (fact) => {
        if (fact.f === 'finished') {
          ended.delete(fact.uid);
          good.forget(fact.uid);
        }
        if (fact.f === 'agent') ended.clear();
        if (fact.f === 'step' && fact.message.type === 'pod.terminate' && fact.message.order.reason === 'Terminated') {
          const { termination, status } = fact.before.context;
          if (termination === null && status?.phase === 'Running') ended.set(fact.uid, false);
        }
        if (fact.f !== 'report' || !ended.has(fact.uid)) return;
        // Of a step before the order: reports wait for their journal, and an agent that dies then tells no later one.
        if (ended.get(fact.uid) === false && fact.report.state.startsWith('syncing.')) return;
        ended.set(fact.uid, true);
        const { phase, reason, conditions } = fact.report.status;
        const is = (type: string): string => conditions?.find((each) => each.type === type)?.status ?? '';
        const told = (phase === 'Failed' && reason === 'Terminated') || good.tells(fact.uid, fact.report);
        if (!told || is('DisruptionTarget') !== 'True' || is('Ready') === 'True')
          say(
            `${fact.uid} was ended for a shutdown and is told as ${phase ?? ''}, ${reason ?? ''}, DisruptionTarget ${is('DisruptionTarget')}, Ready ${is('Ready')}`,
          );
      },
    };
  },
};

/** The machine goes down when the API server knows how pods ended (kubernetes#110755, #112443). */
export const statusesGoFirst: Rule = {
  name: 'the lock that holds a shutdown up is given back when the API server knows how pods ended, or had its time',
  source:
    'kubernetes#110755: "kubelet sometimes doesn\'t finish kill pods before node shutdown ... and left the pods in running state"',
  begin: ({ world, book, say }) => {
    let announcedAt: number | null = null;
    const ended = new Map<string, number>();
    /** Until when pods had time to end: nobody waits longer for one, and the time for telling begins. */
    const due = new Map<string, number>();
    return {
      on: (fact) => {
        const { now } = world.time;
        if (fact.f === 'step' && fact.message.type === 'pod.terminate' && fact.message.order.reason === 'Terminated')
          due.set(fact.uid, now + (fact.message.order.gracePeriodSeconds ?? 0) * 1000);
        if (fact.f === 'agent') ended.clear();
        if (fact.f === 'logind' && fact.change !== 'released') {
          announcedAt = fact.change === 'prepare' ? now : null;
          ended.clear();
        }
        if (fact.f === 'report' && fact.source === 'api' && due.has(fact.uid)) {
          const { state, status } = fact.report;
          const told = status.reason === 'Terminated' || endedWell(fact.report);
          if (told && state.startsWith('terminated.') && !ended.has(fact.uid)) ended.set(fact.uid, now);
        }
        if (fact.f === 'finished') ended.delete(fact.uid);
        if (fact.f !== 'logind' || fact.change !== 'released' || announcedAt === null) return;
        for (const [uid, endedAt] of ended) {
          const at = Math.min(endedAt, due.get(uid) ?? endedAt);
          const shown = world.api.list().find(({ metadata }) => metadata?.uid === uid);
          if (shown === undefined || now - at + SLACK_MS >= TELLING_MS) continue;
          if (['Failed', 'Succeeded'].includes(shown.status?.phase ?? '')) continue;
          if (shown.metadata?.deletionTimestamp !== undefined || book.running(uid).length > 0) continue;
          say(
            `${uid} has ended ${now - at} ms before the machine goes down, and is shown as ${shown.status?.phase ?? ''}`,
          );
        }
      },
    };
  },
};

/** A control plane must come up again by itself. */
export const staticPodsComeBack: Rule = {
  name: 'a static pod that ended with its node begins anew with the next agent',
  source: 'Static Pods: "the kubelet watches each static Pod (and restarts it if it fails)"',
  begin: ({ world, say }) => {
    let startedAt = 0;
    return {
      on: (fact) => {
        if (fact.f === 'agent' && fact.change === 'started') startedAt = world.time.now;
      },
      end: () => {
        const last = Math.max(
          -Infinity,
          ...world.plan.faults.flatMap((fault) => (fault.kind === 'shutdown' ? [fault.from + fault.for] : [])),
        );
        if (startedAt <= last) return;
        for (const shown of world.api.list())
          if (shown.metadata?.annotations?.['kubernetes.io/config.mirror'] !== undefined && wentDown(shown))
            say(
              `${shown.metadata.name ?? ''} is still ${shown.status?.reason ?? ''}, though the agent has started since`,
            );
      },
    };
  },
};
