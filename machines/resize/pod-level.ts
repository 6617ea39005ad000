import type { Container, Pod } from '../protocol/api-types.ts';
import type { ResizeMemory } from '../protocol/memory.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import type { Requirements } from '../protocol/requirements.ts';
import { amountsOf } from '../qos/resource-amounts.ts';
import { resizableContainers, sameSizes } from './requirements.ts';

/** Whether the resources of whole pods are resized, too. */
export type PodLevelResizes = Pick<NodeSettings, 'podLevelResizes'>;

/**
 * The containers that can be resized with what each is given: where it has no limit of its own, the pod's (kubelet
 * GetLimits, KEP-5419). A change of the pod's is then one of theirs.
 */
export function givenContainers(pod: Pod, settings: PodLevelResizes): Container[] {
  return resizableContainers(pod).map((container) => givenContainer(pod, container, settings));
}

/** One of {@link givenContainers}; the same object when the pod's limits give it nothing. */
export function givenContainer(pod: Pod, container: Container, { podLevelResizes }: PodLevelResizes): Container {
  const whole = pod.spec?.resources?.limits;
  if (podLevelResizes !== true || whole === undefined) return container;
  const { resources } = container;
  const own = amountsOf(resources?.limits);
  const limits = { ...resources?.limits };
  let more = false;
  for (const name of ['cpu', 'memory'] as const) {
    const limit = whole[name];
    if (limit === undefined || own[name]) continue;
    limits[name] = limit;
    more = true;
  }
  return more ? { ...container, resources: { ...resources, limits } } : container;
}

/**
 * What a pod had where a newer version gives it other cpu or memory: its containers by name, and the whole pod. Undefined when
 * nothing differs.
 */
export function hadBefore(
  before: Pod,
  after: Pod,
  settings: PodLevelResizes,
): Pick<ResizeMemory, 'actuated' | 'podLevel'> | undefined {
  const old = new Map(givenContainers(before, settings).map(({ name, resources }) => [name, resources]));
  const actuated: Record<string, Requirements> = {};
  for (const { name, resources } of givenContainers(after, settings))
    if (old.has(name) && !sameSizes(old.get(name), resources)) actuated[name] = old.get(name) ?? {};
  const whole = before.spec?.resources;
  const differs = settings.podLevelResizes === true && !sameSizes(whole, after.spec?.resources);
  if (!differs && Object.keys(actuated).length === 0) return undefined;
  return { actuated, ...(differs && { podLevel: whole ?? {} }) };
}
