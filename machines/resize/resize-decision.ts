import { mayLimitedSwap } from '../container-config/container-memory.ts';
import type { Pod } from '../protocol/api-types.ts';
import { isStaticPod } from '../qos/critical-pod.ts';
import { podRequests } from '../qos/pod-resources.ts';
import { podQosClass } from '../qos/qos-class.ts';
import { milli, units } from '../qos/resource-amounts.ts';
import { resizableContainers, sameSize, sizesOf } from './requirements.ts';
import { restartsForMemory } from './resize-plan.ts';

/** What a wished resize comes to. `R`: who goes for it. */
export type ResizeDecision<R = never> =
  /** The pod has what it wants. */
  | { kind: 'none' }
  /** The node can give it: the allocation becomes what the spec asks. */
  | { kind: 'allocate' }
  /** It could once these have gone. */
  | { kind: 'preempt'; room: R }
  /** `detail`: label of `kubelet_pod_infeasible_resizes_total`. `told`: kubelet records an event of it. */
  | { kind: 'pending'; reason: 'Deferred' | 'Infeasible'; message: string; detail?: string; told: boolean };

/** What the decision follows from. */
export interface ResizeQuestion<R = never> {
  /** The pod as its spec wants it. */
  desired: Pod;
  /** The pod as it runs: with what is allocated to it; the same object when that is all it wants. */
  given: Pod;
  /** All that pods may ever have of the node: capacity less what is reserved. */
  most: { cpuMilli: number; memoryBytes: number };
  /** The node limits swap (`LimitedSwap`), as far as its kernel can. */
  limitedSwap?: true;
  /** CPUs, memory of Guaranteed pods are given by a static policy, and stay what they are. */
  fixed?: { cpu: boolean; memory: boolean };
  /** Admission of the pod as it wants to be, beside all others as they are now. Asked last. `room`: who can go so that it fits. */
  admit: (pod: Pod) => { admit: true } | { admit: false; message: string; room?: R };
}

/**
 * Decides about a pod whose spec asks for other resources than it was given (kubelet handlePodResourcesResize and
 * canResizePod): a static pod never, more than the whole node never (Infeasible), what others hold later (Deferred).
 */
export function decideResize<R = never>({
  desired,
  given,
  most,
  limitedSwap,
  fixed,
  admit,
}: ResizeQuestion<R>): ResizeDecision<R> {
  if (given === desired) return { kind: 'none' };
  if (isStaticPod(desired)) {
    const message = 'In-place resize of static-pods is not supported';
    return { kind: 'pending', reason: 'Infeasible', message, detail: 'static_pod', told: false };
  }
  if (limitedSwap && swapWouldChange(desired, given)) {
    const message = 'In-place resize of containers with swap is not supported.';
    return { kind: 'pending', reason: 'Infeasible', message, detail: 'swap_limitation', told: false };
  }
  const kept = fixed && givenForGood(desired, given, fixed);
  if (kept) return kept;
  const requests = podRequests(desired);
  const [cpu, memory] = [milli(requests['cpu']), units(requests['memory'])];
  const tooMuch =
    memory > most.memoryBytes
      ? `memory, requested: ${memory}, capacity: ${most.memoryBytes}`
      : cpu > most.cpuMilli
        ? `cpu, requested: ${cpu}, capacity: ${most.cpuMilli}`
        : null;
  if (tooMuch !== null) {
    const message = `Node didn't have enough capacity: ${tooMuch}`;
    return { kind: 'pending', reason: 'Infeasible', message, detail: 'insufficient_node_allocatable', told: true };
  }
  const verdict = admit(desired);
  if (verdict.admit) return { kind: 'allocate' };
  if (verdict.room !== undefined) return { kind: 'preempt', room: verdict.room };
  return { kind: 'pending', reason: 'Deferred', message: verdict.message, told: true };
}

/** A container that may swap, before or after, asks for other memory, and would not be restarted (kubelet disallowResizeForSwappableContainers). */
function swapWouldChange(desired: Pod, given: Pod): boolean {
  const before = resizableContainers(given);
  return resizableContainers(desired).some((container) => {
    const had = before.find(({ name }) => name === container.name);
    if (had === undefined || restartsForMemory(had)) return false;
    if (sizesOf(container.resources).memoryRequest === sizesOf(had.resources).memoryRequest) return false;
    return mayLimitedSwap(desired, container) || mayLimitedSwap(given, had);
  });
}

/** What a static policy gave a Guaranteed pod cannot be resized (gates InPlacePodVerticalScalingExclusiveCPUs and ...Memory are off). */
function givenForGood(desired: Pod, given: Pod, fixed: NonNullable<ResizeQuestion['fixed']>): ResizeDecision | null {
  if (podQosClass(desired) !== 'Guaranteed') return null;
  const containers = resizableContainers(given);
  const differs = (resource: 'cpu' | 'memory'): boolean =>
    resizableContainers(desired).some(({ name, resources }) => {
      const has = containers.find((each) => each.name === name)?.resources;
      return !sameSize(sizesOf(resources), sizesOf(has), resource);
    });
  const refuse = (manager: string, policy: string, detail: string): ResizeDecision => {
    const message = `Resize is infeasible for Guaranteed Pods alongside ${manager} policy "${policy}"`;
    return { kind: 'pending', reason: 'Infeasible', message, detail, told: true };
  };
  if (fixed.cpu && differs('cpu')) return refuse('CPU Manager', 'static', 'guaranteed_pod_cpu_manager_static_policy');
  if (fixed.memory && differs('memory'))
    return refuse('Memory Manager', 'Static', 'guaranteed_pod_memory_manager_static_policy');
  return null;
}
