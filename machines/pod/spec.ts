import type { ContainerKind } from '../container/container-context.ts';
import type { Container, Pod } from '../protocol/api-types.ts';

/** A container of the spec with the list it comes from. */
export interface SpecContainer {
  kind: ContainerKind;
  container: Container;
}

/** True for an init container that keeps running (restartPolicy Always, KEP-753). */
export function isSidecar(container: Container): boolean {
  return container.restartPolicy === 'Always';
}

/**
 * All containers of a pod: init containers and sidecars in order, then regular, then ephemeral ones. Made once for
 * each definition: a step asks a dozen times, and pods are never changed in place.
 */
export function specContainers(pod: Pod): readonly SpecContainer[] {
  let made = MADE.get(pod);
  if (made === undefined) MADE.set(pod, (made = makeSpecContainers(pod)));
  return made;
}

const BY_KIND = new WeakMap<Pod, Record<'regular' | 'ephemeral' | 'before', readonly SpecContainer[]>>();

/** Containers of one sort, made once for each definition; `before`: init containers and sidecars. */
export function containersOf(pod: Pod, sort: 'regular' | 'ephemeral' | 'before'): readonly SpecContainer[] {
  let lists = BY_KIND.get(pod);
  if (lists === undefined) {
    const all = specContainers(pod);
    // Copies, since they are kept: what `filter` gives has room for many more.
    lists = {
      regular: all.filter((c) => c.kind === 'regular').slice(),
      ephemeral: all.filter((c) => c.kind === 'ephemeral').slice(),
      before: all.filter((c) => c.kind === 'init' || c.kind === 'sidecar').slice(),
    };
    BY_KIND.set(pod, lists);
  }
  return lists[sort];
}

const MADE = new WeakMap<Pod, readonly SpecContainer[]>();

function makeSpecContainers(pod: Pod): SpecContainer[] {
  const spec = pod.spec;
  return [
    ...(spec?.initContainers ?? []).map((container) => ({
      kind: isSidecar(container) ? ('sidecar' as const) : ('init' as const),
      container,
    })),
    ...(spec?.containers ?? []).map((container) => ({ kind: 'regular' as const, container })),
    ...(spec?.ephemeralContainers ?? []).map((container) => ({
      kind: 'ephemeral' as const,
      container: container as Container,
    })),
  ];
}

/** One container of the spec by name. */
export function specContainer(pod: Pod, name: string): SpecContainer | null {
  return specContainers(pod).find((c) => c.container.name === name) ?? null;
}

/** Whether a container that ended with `exitCode` is to run again: its own policy and rules first (KEP-5307), then the pod's. */
export function shouldRestart(pod: Pod, container: Container, exitCode: number): boolean {
  if (isSidecar(container)) return true;
  for (const rule of container.restartPolicyRules ?? []) {
    const codes = rule.exitCodes;
    if (rule.action !== 'Restart' || codes === undefined) continue;
    const listed = codes.values?.includes(exitCode) ?? false;
    if (codes.operator === 'In' ? listed : !listed) return true;
  }
  const policy = container.restartPolicy ?? pod.spec?.restartPolicy ?? 'Always';
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
}

/** The policy says that something of this pod may run again after a failure. */
export function restartsOnFailure(pod: Pod): boolean {
  return (pod.spec?.restartPolicy ?? 'Always') !== 'Never';
}

/** Each container of the pod is started again, however it ends: what is dead of it keeps none from running. */
export function restartsAlways({ spec }: Pod): boolean {
  const all = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  return (spec?.restartPolicy ?? 'Always') === 'Always' && all.every((c) => (c.restartPolicy ?? 'Always') === 'Always');
}

/** The pod shares the node's network. */
export function usesHostNetwork(pod: Pod): boolean {
  return pod.spec?.hostNetwork === true;
}
