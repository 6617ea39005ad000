import type { SandboxConfig } from '../protocol/cri-shapes.ts';
import type { ContainerGrant, PodGrants } from '../protocol/grants.ts';
import type { EffectDone, EffectFailed } from '../protocol/messages.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { entryOf } from '../values/entry-of.ts';
import type { Draft } from './draft.ts';
import { forgetTasks, taskFailed, taskOf, want } from './draft.ts';
import { newestOf } from './observation.ts';
import type { PodContext } from './pod-context.ts';
import { specContainers } from './spec.ts';

/** Name of the task that moves a container to other CPUs, before its name. */
const TASK = 'cpus/';

/** What a container that is made now is given of the node. */
export function grantOf({ grants }: Pick<PodContext, 'grants'>, name: string): ContainerGrant | undefined {
  if (grants === undefined) return undefined;
  const own = grants.containers.find((each) => each.name === name);
  const cpus = own?.cpus ?? grants.shared;
  return { ...own, name, ...(cpus !== '' && { cpus }) };
}

/** Has the container CPUs of its own, so that no quota holds it back? */
export function runsWithoutQuota({ grants }: Pick<PodContext, 'grants'>, name: string): boolean {
  return grants?.quotaOff === true && grants.containers.some((each) => each.name === name && each.cpus !== undefined);
}

/** Has any container of the pod CPUs of its own, so that no quota holds the pod back? */
export function podWithoutQuota({ grants }: Pick<PodContext, 'grants'>): boolean {
  return grants?.quotaOff === true && grants.containers.some(({ cpus }) => cpus !== undefined);
}

const unlimited = new WeakMap<NodeSettings, NodeSettings>();

/** The settings that shape the pod's own cgroup: without a quota where a container has CPUs alone. */
export function cgroupSettings(context: Pick<PodContext, 'grants' | 'settings'>): NodeSettings {
  const { settings } = context;
  if (!podWithoutQuota(context)) return settings;
  const known = unlimited.get(settings) ?? { ...settings, cpuCFSQuota: false };
  unlimited.set(settings, known);
  return known;
}

/** The sandbox without a quota, where a container has CPUs alone. */
export function sandboxWithGrants(
  context: Pick<PodContext, 'grants' | 'settings'>,
  config: SandboxConfig,
): SandboxConfig {
  const { resources } = config.linux;
  if (!podWithoutQuota(context) || resources === undefined || !context.settings.cpuCFSQuota) return config;
  return { ...config, linux: { ...config.linux, resources: { ...resources, cpuQuota: '-1' } } };
}

/** The node gave CPUs away, or has them back: containers that share what is left move. */
export function takeGrants(draft: Draft, grants: PodGrants | undefined): void {
  if (grants === undefined) return;
  draft.context.grants = grants;
  for (const { container } of specContainers(draft.context.pod)) {
    if (taskOf(draft, TASK + container.name)?.state === 'failed') forgetTasks(draft, TASK + container.name);
  }
}

/**
 * Running containers that are on other CPUs than they should be are moved (kubelet's reconcile of its CPU manager): the pool
 * of shared CPUs changed, or an agent before this one made them.
 */
export function planCpus(draft: Draft): void {
  const { context } = draft;
  if (context.grants === undefined || (context.grants.shared === '' && context.grants.containers.length === 0)) return;
  noteMade(draft);
  for (const { container } of specContainers(context.pod)) {
    const { name } = container;
    const cpus = grantOf(context, name)?.cpus;
    const seen = newestOf(context.observed, name);
    if (cpus === undefined || seen?.state !== 'running') continue;
    if (isOn(context, name, seen.id, cpus) || taskOf(draft, TASK + name)?.state === 'running') continue;
    const linux = { cpusetCpus: cpus };
    want(draft, TASK + name, (key) => {
      // Until it is known to have failed it is taken for done: what comes meanwhile is compared with this.
      put(draft, name, { id: seen.id, cpus });
      return { type: 'cri.UpdateContainerResources', key, params: { containerId: seen.id, linux } };
    });
  }
}

/** Takes the outcome of a move; false when the task is another one. */
export function takeCpus(draft: Draft, task: string, outcome: EffectDone | EffectFailed): boolean {
  if (!task.startsWith(TASK)) return false;
  const name = task.slice(TASK.length);
  if (outcome.type === 'effect.done' || outcome.error.code === 'NotFound') {
    forgetTasks(draft, task);
    return true;
  }
  const retryMs = draft.context.grants?.retryMs ?? 0;
  const { [name]: _failed, ...others } = draft.context.cpus ?? {};
  draft.context.cpus = others;
  taskFailed(draft, task, outcome.error, { firstMs: retryMs, longestMs: retryMs });
  return true;
}

/** What a container that this step makes is made with. */
function noteMade(draft: Draft): void {
  for (const effect of draft.effects) {
    if (effect.type !== 'cri.CreateContainer') continue;
    const { metadata, linux } = effect.params.config;
    const before = newestOf(draft.context.observed, metadata.name)?.id ?? '';
    put(draft, metadata.name, { id: '', before, cpus: linux.resources.cpusetCpus ?? '' });
    forgetTasks(draft, TASK + metadata.name);
  }
}

function put(draft: Draft, name: string, place: NonNullable<PodContext['cpus']>[string]): void {
  draft.context.cpus = { ...draft.context.cpus, [name]: place };
}

/** The container is known to be on these CPUs. One that was made since its config was has what stands in it. */
function isOn(context: PodContext, name: string, id: string, cpus: string): boolean {
  const known = entryOf(context.cpus, name);
  if (known?.cpus !== cpus) return false;
  return known.id === '' ? known.before !== id : known.id === id;
}
