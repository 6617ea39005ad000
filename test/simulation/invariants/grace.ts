import type { Rule } from './rule.ts';

/** The least that the runtime is given, s (kubelet minimumGracePeriodInSeconds). */
const LEAST = 2;
/** The least that a pod is given, s (kubelet calculateEffectiveGracePeriod). */
const LEAST_OF_A_POD = 1;
/** Time from a decision to the call, and from whole seconds, s. */
const SLACK = 2;

/** Each container gets what is left of the pod's grace period: neither more nor less. */
export const graceGiven: Rule = {
  name: 'the grace period is given',
  source:
    'core/v1 PodSpec.terminationGracePeriodSeconds, ObjectMeta.deletionGracePeriodSeconds, Probe.terminationGracePeriodSeconds',
  begin: ({ world, book, say }) => {
    /** The longest grace period that anybody asked for, s, by UID. */
    const longest = new Map<string, number>();
    return {
      on: (fact) => {
        if (fact.f === 'api') {
          const { uid = '', deletionGracePeriodSeconds = 0 } = fact.pod.metadata ?? {};
          longest.set(uid, Math.max(longest.get(uid) ?? 0, deletionGracePeriodSeconds));
        }
        if (fact.f !== 'effect' || fact.effect.type !== 'cri.StopContainer') return;
        const { containerId, timeoutSeconds } = fact.effect.params;
        const context = book.pods.get(fact.uid)?.context;
        if (context === undefined) return;
        const { metadata, spec } = context.pod;
        const own = metadata?.deletionGracePeriodSeconds ?? spec?.terminationGracePeriodSeconds ?? 30;
        const most = Math.max(
          LEAST_OF_A_POD,
          own,
          spec?.terminationGracePeriodSeconds ?? 30,
          longest.get(fact.uid) ?? 0,
        );
        const { termination } = context;
        const who = `${fact.uid}/${book.containers.get(containerId)?.name ?? containerId}`;
        if (timeoutSeconds < LEAST) say(`${who} is given ${timeoutSeconds} s between SIGTERM and SIGKILL`);
        if (termination === null) {
          if (timeoutSeconds > Math.max(LEAST, own)) say(`${who} is given ${timeoutSeconds} s of ${own} s`);
          return;
        }
        if (termination.graceSeconds > most) say(`${who}: its pod takes ${termination.graceSeconds} s of ${most} s`);
        const left = (termination.since + termination.graceSeconds * 1000 - world.time.wall()) / 1000;
        // One that a failed probe or hook had begun to stop before its pod ended has what is left of its own time.
        const kill = context.containers[book.containers.get(containerId)?.name ?? '']?.context.kill ?? null;
        const alone = kill !== null && kill.since < termination.since;
        const ownLeft = alone ? kill.since / 1000 + kill.graceSeconds - world.time.wall() / 1000 : Infinity;
        if (timeoutSeconds < Math.min(left, ownLeft) - SLACK)
          say(`${who} is given ${timeoutSeconds} s, though ${left} s are left`);
        if (timeoutSeconds > Math.max(LEAST, left) + SLACK)
          say(`${who} is given ${timeoutSeconds} s, though only ${left} s are left`);
      },
    };
  },
};

/** Nothing is killed by taking away what it runs in. */
export const nothingIsKilledAside: Rule = {
  name: 'running containers are stopped before their sandbox or themselves are removed',
  source: 'kubelet killPodWithSyncResult: containers first, with their grace period, then the sandbox',
  begin: ({ world, book, say }) => ({
    on: (fact) => {
      if (fact.f !== 'call') return;
      const { rpc, uid, container, sandbox } = fact;
      const hit =
        rpc === 'RemoveContainer'
          ? [container]
          : rpc === 'StopPodSandbox' || rpc === 'RemovePodSandbox'
            ? [...(sandbox?.containers ?? [])]
            : [];
      const alive = hit.filter((each) => each?.state === 1).map((each) => each?.metadata.name);
      if (alive.length === 0 || sandbox?.state !== 0) return;
      const termination = book.pods.get(uid)?.context.termination;
      const left = termination ? termination.since + termination.graceSeconds * 1000 - world.time.wall() : Infinity;
      if (left > 0) say(`${rpc} of ${uid} while ${alive.join(', ')} runs`);
    },
  }),
};

/** When nothing is wrong, no container outlives its pod's grace period. */
export const graceIsKept: Rule = {
  name: 'nothing outlives its grace period',
  source: 'core/v1 PodSpec.terminationGracePeriodSeconds: "forcibly halted with a kill signal"',
  begin: ({ world, book, say }) => {
    const { time, faults } = world;
    const asked = new Set<string>();
    return {
      on: (fact) => {
        if (fact.f !== 'step') return;
        const { termination } = fact.after.context;
        if (termination === null || fact.before.context.termination !== null || asked.has(fact.uid)) return;
        asked.add(fact.uid);
        const began = time.now;
        const allowed = (termination.graceSeconds + 3 * LEAST + 6) * 1000;
        time.after(
          allowed,
          time.world,
          () => {
            asked.delete(fact.uid);
            if (!faults.calmSince(began - 60_000) || book.lastBreak > began - 60_000) return;
            const pod = book.pods.get(fact.uid);
            if (pod?.context.termination?.since !== termination.since) return;
            for (const { name } of book.running(fact.uid))
              say(
                `${fact.uid}/${name} runs ${allowed / 1000} s after its pod began to end with ${termination.graceSeconds} s`,
              );
          },
          false,
        );
      },
    };
  },
};
