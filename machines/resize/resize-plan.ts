import type { Container, Pod } from '../protocol/api-types.ts';
import type { CgroupLimitsSet, PodResourcesRead } from '../protocol/effects.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { podCgroup } from '../qos/pod-cgroup.ts';
import { sameSize, sizesOf, withResource } from './requirements.ts';
import type { ResizableResource, Sizes } from './requirements.ts';
import type { Requirements } from '../protocol/requirements.ts';

/** A running container with what it has now; what it is to have stands in `container`. */
export interface ResizeTarget {
  container: Container;
  id: string;
  actuated: Requirements | undefined;
}

/** One call of a resize. */
export type ResizeStep =
  | { do: 'cgroup'; resource: ResizableResource; limits: CgroupLimitsSet }
  /** `actuated`: what the container has when the call has succeeded. */
  | { do: 'container'; name: string; id: string; resource: ResizableResource; actuated: Requirements };

/** Does the container have to be restarted for what changes (`resizePolicy`)? */
export function needsRestart(container: Container, actuated: Requirements | undefined): boolean {
  const [wanted, has] = [sizesOf(container.resources), sizesOf(actuated)];
  return (['memory', 'cpu'] as const).some(
    (resource) => !sameSize(wanted, has, resource) && restartsFor(container, resource),
  );
}

/** Is a container restarted when its memory is resized? */
export function restartsForMemory(container: Container): boolean {
  return restartsFor(container, 'memory');
}

function restartsFor({ resizePolicy }: Container, resource: ResizableResource): boolean {
  return resizePolicy?.find(({ resourceName }) => resourceName === resource)?.restartPolicy === 'RestartContainer';
}

/**
 * The calls that put a pod's allocated resources in force, in kubelet's order (doPodResizeAction): memory before cpu;
 * where the pod gets more, its cgroup before the containers, where it gets less, after them; containers that shrink
 * before those that grow; limits grow before requests and shrink after them. What is not set is left as it is.
 */
export function resizeSteps(
  pod: Pod,
  targets: readonly ResizeTarget[],
  now: Pick<PodResourcesRead, 'cpuShares' | 'cpuQuotaUs' | 'cpuPeriodUs' | 'memoryLimitBytes'>,
  settings: NodeSettings,
): ResizeStep[] {
  const { cpuShares, cpuQuotaUs, cpuPeriodUs, memoryLimitBytes } = podCgroup(pod, settings);
  const steps: ResizeStep[] = [];
  const has = new Map(targets.map(({ container, actuated }) => [container.name, actuated]));
  const around = (resource: ResizableResource, changes: readonly Change[]): void => {
    const cgroup = (limits: CgroupLimitsSet): void => void steps.push({ do: 'cgroup', resource, limits });
    for (const { limits, by } of changes) if (by > 0) cgroup(limits);
    for (const { container, id } of inOrder(targets, resource)) {
      const actuated = withResource(has.get(container.name), container.resources, resource);
      has.set(container.name, actuated);
      steps.push({ do: 'container', name: container.name, id, resource, actuated });
    }
    for (const { limits, by } of [...changes].reverse()) if (by < 0) cgroup(limits);
  };
  around('memory', [change({ memoryLimitBytes }, now.memoryLimitBytes, memoryLimitBytes)]);
  around('cpu', [
    change({ cpuPeriodUs: cpuPeriodUs ?? now.cpuPeriodUs, cpuQuotaUs }, now.cpuQuotaUs, cpuQuotaUs),
    change({ cpuShares }, now.cpuShares, cpuShares),
  ]);
  return steps;
}

interface Change {
  limits: CgroupLimitsSet;
  /** Above 0: it grows. */
  by: number;
}

function change(limits: CgroupLimitsSet, now: number, wanted: number | undefined): Change {
  return { limits, by: wanted === undefined ? 0 : wanted - now };
}

/** Containers that get less of a resource (the last of the spec first), then those that get more. */
function inOrder(targets: readonly ResizeTarget[], resource: ResizableResource): ResizeTarget[] {
  const changing = targets.map((target) => ({ target, by: growth(target, resource) })).filter(({ by }) => by !== 0);
  return [...changing.filter(({ by }) => by < 0).reverse(), ...changing.filter(({ by }) => by > 0)].map(
    ({ target }) => target,
  );
}

/** How much more a container gets: of its limit, and where that stays, of its request. */
function growth({ container, actuated }: ResizeTarget, resource: ResizableResource): number {
  const [wanted, has] = [sizesOf(container.resources), sizesOf(actuated)];
  const of = (key: keyof Sizes): number => wanted[key] - has[key];
  return resource === 'cpu' ? of('cpuLimit') || of('cpuRequest') : of('memoryLimit') || of('memoryRequest');
}
