import { statePath } from '../../../machines/machine-step/step.ts';
import type { PodContext } from '../../../machines/pod/pod-context.ts';
import type { Ground, Rule } from './rule.ts';

/**
 * What is still probed in a pod that ends: `all` of its sidecars and the readiness of the rest while its object is there,
 * `sidecars` when its work is done, `none` once its phase or status is final.
 */
function probedStill({ world, book }: Ground, uid: string, context: PodContext): 'all' | 'sidecars' | 'none' {
  const { termination } = context;
  if (termination === null || termination.deletedFromSource || termination.phase !== null) return 'none';
  if (termination.reason === 'Deleted') return 'all';
  const regular = world.workload.planOf(uid)?.spec.containers ?? [];
  return regular.every(({ name }) => (book.of(uid, name).at(-1)?.exitedAt ?? null) !== null) ? 'sidecars' : 'none';
}

/** A pod that ends restarts nothing, so nothing is probed for that; with its final phase, nothing at all. */
export const probesEndWithTheirPod: Rule = {
  name: 'what cannot be restarted any more is not probed for it',
  source: 'kubelet SyncTerminatingPod (StopLivenessAndStartup), prober worker doProbe (a final phase, no status)',
  begin: (ground) => ({
    on: (fact) => {
      if (fact.f !== 'step' || fact.before.context.termination === null || fact.message.type === 'pod.start') return;
      const { world, say } = ground;
      const inits = world.workload.planOf(fact.uid)?.spec.initContainers ?? [];
      const still = probedStill(ground, fact.uid, fact.before.context);
      for (const { key } of fact.effects) {
        const [probe, container = '', kind = ''] = key.split('/');
        if (probe !== 'probe') continue;
        // The next try of a run that was under way.
        if (statePath(fact.before.context.probes[`${container}/${kind}`]?.value) === 'probing') continue;
        const sidecar = inits.some(({ name }) => name === container);
        if (still === 'none' || !(sidecar || (still === 'all' && kind === 'readiness')))
          say(`${fact.uid}/${container}: ${kind} is asked in a pod that ends`);
      }
    },
  }),
};

/** Sidecars serve until the containers that need them have ended, and are probed so long. */
export const sidecarsAreProbedOn: Rule = {
  name: 'sidecars are probed while their pod is deleted, and when its work is done',
  source: 'KEP-753; kubelet StopLivenessAndStartup leaves restartable init containers out until RemovePod',
  begin: (ground) => ({
    on: (fact) => {
      if (fact.f !== 'step') return;
      const { world, book, say } = ground;
      const { context } = fact.after;
      if (probedStill(ground, fact.uid, context) === 'none') return;
      // Its end had begun before its object told, as one that no source named, or that had failed.
      if (fact.before.context.termination === null || context.source === 'orphan') return;
      const sidecars = world.workload
        .planOf(fact.uid)
        ?.spec.initContainers?.filter((c) => c.restartPolicy === 'Always');
      for (const { name } of sidecars ?? []) {
        if (!book.running(fact.uid).some((c) => c.name === name)) continue;
        for (const kind of ['startup', 'liveness', 'readiness'])
          if (statePath(context.probes[`${name}/${kind}`]?.value) === 'ended')
            say(`${fact.uid}/${name} runs, and its ${kind} probe has ended with ${context.termination?.reason ?? ''}`);
      }
    },
  }),
};

/** While the last regular containers are being stopped for good, their sidecars are as good as those of a pod that ends. */
export const sidecarsOfTheLast: Rule = {
  name: 'no sidecar is begun or stopped while the last containers that need it are stopped for good',
  source:
    'kubelet SyncPod stops what failed its probe before it does anything else, and ends the pod when nothing is left',
  begin: ({ world, say }) => ({
    on: (fact) => {
      if (fact.f !== 'step' || fact.before.context.termination !== null || fact.after.context.termination !== null)
        return;
      const spec = world.workload.planOf(fact.uid)?.spec;
      if (spec?.restartPolicy !== 'Never') return;
      const regular = spec.containers.map(({ name }) => name);
      if (!lastOnesStop(fact.before.context, regular) || !lastOnesStop(fact.after.context, regular)) return;
      for (const { name, restartPolicy } of spec.initContainers ?? []) {
        if (restartPolicy !== 'Always') continue;
        const [was, is] = [fact.before, fact.after].map(({ context }) => statePath(context.containers[name]?.value));
        const begun = is?.startsWith('starting.') === true && was?.startsWith('starting.') === false;
        const stopped = is?.startsWith('stopping.') === true && was === 'running';
        if (begun || stopped) say(`${fact.uid}/${name} goes from ${was ?? ''} to ${is ?? ''}`);
      }
    },
  }),
};

function lastOnesStop(context: PodContext, regular: readonly string[]): boolean {
  let stopping = false;
  for (const name of regular) {
    const place = context.containers[name];
    const state = statePath(place?.value);
    const { reason = '' } = place?.context.kill ?? {};
    if (state.startsWith('stopping.') && ['liveness', 'startup', 'postStartHook'].includes(reason)) stopping = true;
    else if (state !== 'exited') return false;
  }
  return stopping;
}
