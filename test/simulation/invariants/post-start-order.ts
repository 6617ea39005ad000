import type { PodPlan } from '../draw/plan.ts';
import type { ContainerSpec } from '../draw/pod-spec.ts';
import { statePath } from '../../../machines/machine-step/step.ts';
import { specContainers } from '../../../machines/pod/spec.ts';
import type { Fact } from '../world/facts.ts';
import type { Rule } from './rule.ts';

/**
 * No container is made before the start of those before it that have a postStart hook is over: their process runs and the
 * hook has ended, or something of it failed.
 */
export const hooksComeFirst: Rule = {
  name: 'containers are made after the postStart hooks of those before them',
  source: 'kubelet SyncPod: startContainer of one container ends with its postStart hook, then comes the next',
  begin: ({ world, say }) => {
    /** `uid/name` of containers whose start was over at least once, by success or failure. */
    const over = new Set<string>();
    /** `uid/name` of containers whose hook was begun and has not ended. */
    const underWay = new Set<string>();
    return {
      on: (fact) => {
        // A static pod that comes back is another life under the same UID; a file that was away for a moment only ends none.
        if (fact.f === 'finished')
          for (const keys of [over, underWay])
            for (const key of [...keys]) if (uidOf(key) === fact.uid) keys.delete(key);
        // Whoever comes after takes over what runs, and runs no hook again.
        if (fact.f === 'agent' || fact.f === 'worker') underWay.clear();
        if (fact.f === 'step') takeStep(fact, underWay, over);
        if (fact.f === 'container') {
          const key = `${fact.uid}/${fact.record.metadata.name}`;
          if (fact.change === 'exited' || fact.change === 'removed') underWay.delete(key);
          if (fact.change !== 'created') over.add(key);
        }
        if (fact.f !== 'effect' || fact.effect.type !== 'host.PrepareContainer') return;
        const name = fact.effect.params.containerName;
        for (const before of hooksBefore(world.workload.planOf(fact.uid), name)) {
          const key = `${fact.uid}/${before.name}`;
          if (underWay.has(key)) say(`${fact.uid}/${name} is made while the postStart hook of ${before.name} runs`);
          else if (!over.has(key)) say(`${fact.uid}/${name} is made before the start of ${before.name} is over`);
        }
      },
    };
  },
};

function uidOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/'));
}

/** A start that waits for another try, and what comes of it; the definition itself may be what cannot be made. */
const FAILED = new Set(['retrying', 'inDoubt', 'backingOff', 'starting.imageBackOff']);

/** What the agent comes to know of starts and their hooks. */
function takeStep({ uid, after }: Extract<Fact, { f: 'step' }>, underWay: Set<string>, over: Set<string>): void {
  for (const { container } of specContainers(after.context.pod)) {
    if (container.lifecycle?.postStart === undefined) continue;
    const key = `${uid}/${container.name}`;
    const state = statePath(after.context.containers[container.name]?.value ?? '');
    if (FAILED.has(state)) over.add(key);
    if (state === 'starting.postStart') underWay.add(key);
    else underWay.delete(key);
  }
}

function hooksBefore(plan: PodPlan | undefined, name: string): ContainerSpec[] {
  const all = [...(plan?.spec.initContainers ?? []), ...(plan?.spec.containers ?? [])];
  const place = all.findIndex((c) => c.name === name);
  return all.slice(0, Math.max(0, place)).filter(({ lifecycle }) => lifecycle?.postStart !== undefined);
}
