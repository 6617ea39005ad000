import { endedLives } from './book.ts';
import { newestOf } from '../../../machines/pod/observation.ts';
import type { PodContext } from '../../../machines/pod/pod-context.ts';
import type { Fact } from '../world/facts.ts';
import type { Rule } from './rule.ts';

/** Starts of one container that a back-off of 10 s, 20 s, 40 s ... lets happen in so many ms, and two to spare. */
const WINDOW_MS = 300_000;
const MOST_STARTS = 8;

/** Only what may be restarted is. */
export const restartPolicy: Rule = {
  name: 'the restart policy is kept',
  source: 'core/v1 PodSpec.restartPolicy; KEP-753 for restartable init containers',
  begin: ({ world, book, say }) => {
    /** Stopped by the agent so that they start again: a probe failed. Their exit code says nothing (kubelet computePodActions). */
    const stopped = stoppedByProbes();
    return {
      on: (fact) => {
        stopped.on(fact);
        if (fact.f !== 'container' || fact.change !== 'started') return;
        const plan = world.workload.planOf(fact.uid);
        const { name } = fact.record.metadata;
        const policy = plan?.spec.restartPolicy;
        const main = plan?.spec.containers.some((c) => c.name === name) ?? false;
        if (!main || policy === 'Always' || plan === undefined || world.workload.disturbed.has(plan.key)) return;
        const before = book
          .of(fact.uid, name)
          .findLast((c) => c.id !== fact.record.id && c.exitedAt !== null && c.startedAt !== null);
        if (before === undefined) return;
        // Its containers were collected when it had ended, and what it came to is forgotten: a static pod begins anew, as with kubelet.
        if (plan.source !== 'api' && world.memoryLostSince(before.exitedAt ?? 0)) return;
        if (policy === 'Never') say(`${fact.uid}/${name} starts again, though its pod says Never`);
        else if (before.record.exitCode === 0 && !stopped.has(before.id))
          say(`${fact.uid}/${name} starts again after it succeeded`);
      },
    };
  },
};

/** A container that its probe had stopped runs again, unless its pod's policy is Never. */
export const probedStartAgain: Rule = {
  name: 'what a failed probe stopped is started again',
  source: 'kubelet computePodActions: stopped and started in one pass, whatever the exit code',
  begin: ({ world, say }) => {
    const stopped = stoppedByProbes();
    return {
      on: (fact) => {
        stopped.on(fact);
        if (fact.f !== 'step' || fact.before.context.termination !== null) return;
        const { termination, observed, containers } = fact.after.context as PodContext;
        const plan = world.workload.planOf(fact.uid);
        if (termination?.reason !== 'Completed' || plan?.spec.restartPolicy !== 'OnFailure') return;
        if (!world.faults.calmSince(world.time.now - 60_000) || world.workload.disturbed.has(plan.key)) return;
        for (const { name } of plan.spec.containers) {
          const last = newestOf(observed, name);
          // Held back, it goes by its policy.
          if (last === null || !stopped.has(last.id) || containers[name]?.value === 'backingOff') continue;
          say(`${fact.uid} is at its end, and a probe stopped ${name}`);
        }
      },
    };
  },
};

/** Ids of the containers that were stopped for a probe while their pod went on; an agent that ends forgets why. */
function stoppedByProbes(): { on: (fact: Fact) => void; has: (id: string) => boolean } {
  const ids = new Set<string>();
  return {
    has: (id) => ids.has(id),
    on: (fact) => {
      if (fact.f === 'agent' || fact.f === 'worker') ids.clear();
      if (fact.f !== 'step' || fact.after.context.termination !== null) return;
      for (const { context } of Object.values((fact.after.context as PodContext).containers))
        if (context.kill?.reason === 'liveness' || context.kill?.reason === 'startup') ids.add(context.id);
    },
  };
}

/** A container that crashes again and again is started ever more rarely. */
export const backOff: Rule = {
  name: 'crash loops are slowed down',
  source: 'Pod Lifecycle, "How Pods handle problems with containers": 10 s, 20 s, 40 s ... capped at 300 s',
  begin: ({ world, say }) => {
    const starts = new Map<string, number[]>();
    let ahead = world.time.wallOffset;
    return {
      on: (fact) => {
        // All delays of the wall clock are over when it is set forward, and with ten minutes of calm the loop as well.
        if (world.time.wallOffset > ahead) starts.clear();
        ahead = world.time.wallOffset;
        const over = endedLives(fact, world);
        if (over !== null) for (const key of [...starts.keys()]) if (over(key.split('/')[0] ?? '')) starts.delete(key);
        const { now } = world.time;
        // An agent that starts without what the last one remembered begins anew (kubelet always does).
        if (fact.f === 'agent' && fact.change === 'started' && world.memoryLostSince(now - WINDOW_MS)) starts.clear();
        if (fact.f !== 'container' || fact.change !== 'started') return;
        // Another definition is another loop (kubelet's back-off goes by the container's hash).
        const { metadata, config } = fact.record;
        const key = `${fact.uid}/${metadata.name}/${config.image?.image ?? ''}`;
        const recent = [...(starts.get(key) ?? []), now].filter((at) => at > now - WINDOW_MS);
        starts.set(key, recent);
        if (recent.length > MOST_STARTS) say(`${key} started ${recent.length} times within ${WINDOW_MS / 1000} s`);
      },
    };
  },
};

/** A container is stopped only for a reason; that the agent was restarted is none. */
export const noStopWithoutCause: Rule = {
  name: 'no container is stopped without a cause',
  source:
    'kubelet computePodActions: kept unless its definition changed, a probe failed, its sandbox is gone or its pod ends',
  begin: ({ world, book, say }) => ({
    on: (fact) => {
      if (fact.f !== 'call' || fact.rpc !== 'StopContainer' || fact.container?.state !== 1) return;
      const plan = world.workload.planOf(fact.uid);
      const pod = book.pods.get(fact.uid);
      if (plan === undefined || pod === undefined || pod.endingSince !== null) return;
      const { metadata, sandbox } = fact.container;
      const fate = plan.fates[metadata.name];
      const unwell = Object.keys(fate?.bad ?? {}).length > 0;
      if (unwell || world.workload.disturbed.has(plan.key) || sandbox.state !== 0) return;
      if (!world.faults.calmSince(world.time.now - 300_000)) return;
      say(`${fact.uid}/${metadata.name} is stopped in ${pod.state}`);
    },
  }),
};

/** What runs when the agent comes back goes on running. */
export const adoptedGoOn: Rule = {
  name: 'an adopted container is not restarted',
  source: 'kubelet restarts leave containers alone: "Restarting the kubelet does not restart containers"',
  begin: ({ world, book, say }) => {
    const adopted = new Map<string, number>();
    return {
      on: (fact) => {
        if (fact.f === 'agent' && fact.change === 'started')
          for (const { id, record } of book.containers.values())
            if (record.state === 1) adopted.set(id, world.time.now);
        if (fact.f !== 'call' || fact.rpc !== 'StopContainer' || fact.container === undefined) return;
        const since = adopted.get(fact.container.id);
        if (since === undefined || world.time.now > since + 60_000 || fact.container.state !== 1) return;
        const plan = world.workload.planOf(fact.uid);
        const pod = book.pods.get(fact.uid);
        if (plan === undefined || pod === undefined || pod.endingSince !== null) return;
        const unwell = Object.values(plan.fates).some(({ bad }) => Object.keys(bad).length > 0);
        if (unwell || world.workload.disturbed.has(plan.key) || fact.container.sandbox.state !== 0) return;
        say(
          `${fact.uid}/${fact.container.metadata.name} is stopped ${world.time.now - since} ms after the agent came back`,
        );
      },
    };
  },
};
