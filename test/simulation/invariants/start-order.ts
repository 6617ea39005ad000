import { statePath } from '../../../machines/machine-step/step.ts';
import type { Ground, Rule } from './rule.ts';

/**
 * Init containers run one after the other to their end, sidecars are started in their place (their postStart hook with them), and
 * only then the others.
 */
export const startOrder: Rule = {
  name: 'init containers and sidecars come first, in order',
  source: 'core/v1 PodSpec.initContainers; KEP-753',
  begin: ({ world, book, say }) => {
    /** By pod: sidecars whose postStart hook has ended well at least once. */
    const wellStarted = new Map<string, Set<string>>();
    return {
      on: (fact) => {
        // A static pod that comes back is another life under the same UID.
        if (fact.f === 'finished') wellStarted.delete(fact.uid);
        if (fact.f === 'step')
          for (const { name, restartPolicy, lifecycle } of fact.after.context.pod.spec?.initContainers ?? [])
            if (restartPolicy === 'Always' && lifecycle?.postStart !== undefined)
              if (fact.after.context.containers[name]?.value === 'running')
                wellStarted.set(fact.uid, (wellStarted.get(fact.uid) ?? new Set()).add(name));
        if (fact.f !== 'container' || fact.change !== 'started') return;
        const spec = world.workload.planOf(fact.uid)?.spec;
        const { name } = fact.record.metadata;
        for (const before of spec?.initContainers ?? []) {
          if (before.name === name) break;
          const tried = book.of(fact.uid, before.name).filter(({ sandboxId }) => sandboxId === fact.record.sandbox.id);
          const sidecar = before.restartPolicy === 'Always';
          const isWell =
            before.lifecycle?.postStart === undefined || wellStarted.get(fact.uid)?.has(before.name) === true;
          const done = tried.some(
            (c) => c.startedAt !== null && (sidecar ? isWell : c.exitedAt !== null && c.record.exitCode === 0),
          );
          if (!done)
            say(`${fact.uid}/${name} starts before ${before.name} ${sidecar ? 'has started' : 'has succeeded'}`);
        }
      },
    };
  },
};

/** Sidecars end after all regular containers, the last one first. */
export const stopOrder: Rule = {
  name: 'sidecars end last',
  source: 'KEP-753: sidecars are terminated after all containers, in reverse order, within the grace period',
  begin: (ground) => {
    /** Containers whose end had begun before their pod's, for a reason of their own: a probe, another definition. */
    const endingAlone = new Set<string>();
    return {
      on: (fact) => {
        if (fact.f === 'step' && fact.before.context.termination === null && fact.after.context.termination !== null)
          for (const id of stopping(fact.before.context.containers)) endingAlone.add(id);
        if (fact.f !== 'effect' || fact.effect.type !== 'cri.StopContainer') return;
        const { containerId } = fact.effect.params;
        const pod = ground.book.pods.get(fact.uid);
        const stopped = ground.book.containers.get(containerId);
        const termination = pod?.context.termination;
        if (termination === null) endingAlone.add(containerId);
        if (stopped === undefined || termination === null || termination === undefined) return;
        // Of an orphan nobody knows any more which containers are sidecars.
        if (pod?.context.source === 'orphan') return;
        // It has its signal already, or its preStop hook runs; that it is stopped again with the pod's shorter grace puts nothing out of order.
        if (endingAlone.has(containerId)) return;
        const left = termination.since + termination.graceSeconds * 1000 - ground.world.time.wall();
        if (left > 0) checkTurn(ground, fact.uid, stopped.name);
      },
    };
  },
};

/** Ids of the containers that are told to stop. */
function stopping(containers: Record<string, { value: unknown; context: { id: string } }>): string[] {
  const told = Object.values(containers).filter(({ value }) => statePath(value as never).startsWith('stopping.'));
  return told.map(({ context }) => context.id);
}

function checkTurn({ world, book, say }: Ground, uid: string, name: string): void {
  const inits = world.workload.planOf(uid)?.spec.initContainers ?? [];
  const place = inits.findIndex((c) => c.name === name && c.restartPolicy === 'Always');
  if (place < 0) return;
  const later = new Set(inits.slice(place + 1).map((c) => c.name));
  for (const other of book.running(uid)) {
    const isInit = inits.some((c) => c.name === other.name && c.restartPolicy !== 'Always');
    const isSidecar = inits.some((c) => c.name === other.name && c.restartPolicy === 'Always');
    // One that runs beside an init container does not wait for that one's end (kubelet newTerminationOrdering).
    if (isInit) continue;
    if (!isSidecar || later.has(other.name)) say(`${uid}/${name} is stopped while ${other.name} runs`);
  }
}
