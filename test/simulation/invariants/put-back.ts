import { podState } from '../../../machines/pod/pod-step.ts';
import { ODD_VOLUME } from '../draw/draw-pod.ts';
import { PLUGINS_LATE_MS } from '../world/plugins-edge.ts';
import { FILES_SETTLE_MS } from '../world/node-settings.ts';
import type { World } from '../world/world.ts';
import type { Fact } from '../world/facts.ts';
import type { Rule } from './rule.ts';

/** What is not counted as the pod's grace: its hooks, the clean-up, a relist or two, and the mirror pod's own pauses, ms. */
const SECONDS_MS = 60_000;

/** A static pod whose file is put back is run again, and shown, within seconds of the end of the one before. */
export const putBackRunsAgain: Rule = {
  name: 'a static pod that is put back runs again and has its mirror pod within a minute of its end',
  source:
    'kubelet HandlePodCleanups: "restartable static pods are the normal case"; e2e_node "should successfully recreate when file is removed and recreated"',
  begin: ({ world, book, say }) => {
    const awaited = new Map<string, { since: number; graceMs: number; made: boolean }>();
    const rejected = new Rejected(world);
    return {
      on: (fact) => {
        const { now } = world.time;
        rejected.hear(fact);
        if (fact.f === 'change' && fact.what === 'restore') {
          const plan = world.workload.planOf(fact.uid);
          const odd = plan?.spec.volumes?.some(({ name }) => name === ODD_VOLUME) === true;
          const lasting = plan?.spec.restartPolicy === 'Always' && plan.spec.activeDeadlineSeconds === undefined;
          // What had ended before stays so when nobody saw that the file was away.
          const ended = isUnseen(world, fact.uid) && book.pods.get(fact.uid)?.state.startsWith('syncing') !== true;
          if (plan !== undefined && lasting && !odd && !ended) {
            const graceMs = (plan.spec.terminationGracePeriodSeconds ?? 30) * 1000;
            awaited.set(fact.uid, { since: now, graceMs, made: false });
          }
        }
        if (fact.f === 'sandbox' && fact.change === 'made') {
          const waits = awaited.get(fact.uid);
          if (waits !== undefined) waits.made = true;
        }
        for (const [uid, waits] of awaited) {
          const plan = world.workload.planOf(uid);
          const over =
            plan === undefined || world.workload.deleted.has(plan.key) || world.workload.disturbed.has(plan.key);
          if (over || rejected.stays(uid) || (waits.made && isShown(uid))) {
            awaited.delete(uid);
            continue;
          }
          // Whatever goes wrong takes its time; so does a pod of the API that has the name.
          if (!world.faults.calmSince(waits.since) || holdsName(uid)) waits.since = now;
          if (now <= waits.since + waits.graceMs + SECONDS_MS) continue;
          waits.made ||= goesOn(uid);
          if (waits.made && isShown(uid)) {
            awaited.delete(uid);
            continue;
          }
          awaited.delete(uid);
          say(
            `${uid} ${waits.made ? 'is not shown' : 'is not made'} ${now - waits.since} ms after its file was put back`,
          );
        }
      },
    };

    /** The file was back before anybody saw that it was away. */
    function goesOn(uid: string): boolean {
      const stands = [...world.runtime.core.sandboxes.byId.values()].some(
        ({ metadata, state }) => metadata.uid === uid && state === 0,
      );
      return stands && book.pods.get(uid)?.state.startsWith('syncing') === true;
    }

    function isShown(uid: string): boolean {
      if (world.plan.node.standalone === true) return true;
      return world.api.list().some((pod) => pod.metadata?.annotations?.['kubernetes.io/config.mirror'] === uid);
    }

    function holdsName(uid: string): boolean {
      const plan = world.workload.planOf(uid);
      return (
        plan !== undefined && world.api.get(plan.namespace, `${plan.name}-sim`)?.metadata?.annotations === undefined
      );
    }
  },
};

/**
 * Static pods that were rejected for their devices. Such a pod stays rejected while its file stays (kubelet's rejectPod). So it is,
 * whatever its file did, when the rejection is of the life that was to come, and a plugin was the cause of it; or when the file was
 * back so soon that nobody saw it away: then no other life was called for.
 */
class Rejected {
  private readonly world: World;
  private readonly uids = new Map<string, { excused: boolean }>();
  private agentSince = 0;

  constructor(world: World) {
    this.world = world;
  }

  hear(fact: Fact): void {
    const { now } = this.world.time;
    if (fact.f === 'finished') this.uids.delete(fact.uid);
    // The next agent asks again.
    if (fact.f === 'agent') {
      this.uids.clear();
      this.agentSince = now;
    }
    if (fact.f === 'report' && fact.report.status.reason === 'UnexpectedAdmissionError' && !this.uids.has(fact.uid))
      this.uids.set(fact.uid, { excused: this.isPluginsFault() });
    // What was rejected before this is another life, unless nobody sees that the file was away.
    if (fact.f === 'change' && fact.what === 'restore' && !isUnseen(this.world, fact.uid)) {
      const before = this.uids.get(fact.uid);
      if (before !== undefined) before.excused = false;
    }
  }

  stays(uid: string): boolean {
    return this.uids.get(uid)?.excused === true;
  }

  private isPluginsFault(): boolean {
    const { faults, time } = this.world;
    if (time.now - this.agentSince <= PLUGINS_LATE_MS) return true;
    return faults.all('plugin').some((fault) => fault.from <= time.now && time.now <= fault.from + fault.for);
  }
}

/** The file that is put back now went so shortly before that the agent has not looked at the folder in between. */
function isUnseen({ plan, time, workload }: World, uid: string): boolean {
  const key = workload.planOf(uid)?.key;
  return plan.changes.some(
    (change) =>
      change.do === 'delete' && change.pod === key && change.at <= time.now && time.now - change.at <= FILES_SETTLE_MS,
  );
}

/** What ran when the file of a static pod was put back is counted on, as long as nobody lost his memory in between. */
export const putBackCountsOn: Rule = {
  name: 'a static pod that is put back while it ends counts its restarts on',
  source:
    'kubelet computePodActions on what is dead of it; e2e_node mirror_pod_test.go: "mirror pod should restart with count 1"',
  begin: ({ world, book, say }) => {
    /** Attempts of containers that ran when the pod heard that its file was put back, by UID and name. */
    const ran = new Map<string, number>();
    return {
      on: (fact) => {
        if (fact.f === 'agent' || fact.f === 'worker') ran.clear();
        if (fact.f === 'step' && fact.message.type === 'pod.terminate') {
          for (const key of [...ran.keys()]) if (key.startsWith(`${fact.uid}/`)) ran.delete(key);
          // Told later, when its remains are being removed, it comes too late for them.
          if (fact.message.order.comesBack === true && podState(fact.after).startsWith('terminating'))
            for (const { name, record } of book.running(fact.uid))
              ran.set(`${fact.uid}/${name}`, record.metadata.attempt);
        }
        if (fact.f !== 'container' || fact.change !== 'created') return;
        const before = ran.get(`${fact.uid}/${fact.record.metadata.name}`);
        ran.delete(`${fact.uid}/${fact.record.metadata.name}`);
        const plan = world.workload.planOf(fact.uid);
        if (before === undefined || plan === undefined || world.workload.disturbed.has(plan.key)) return;
        if (fact.record.metadata.attempt <= before)
          say(`${fact.uid}/${fact.record.metadata.name}: ${before} goes on with ${fact.record.metadata.attempt}`);
      },
    };
  },
};
