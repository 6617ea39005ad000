import { status } from '@grpc/grpc-js';
import { ContainerEventType, NamespaceMode, PodSandboxState } from '../generated/runtime/v1/api.ts';
import type { PodSandboxConfig, PodSandboxMetadata } from '../generated/runtime/v1/api.ts';
import type { CallContext } from './call-context.ts';
import { factsMatch } from './glob.ts';
import type { RuntimeHandlers } from './handlers.ts';
import { sandboxLister } from './list-encoding.ts';
import { drawBetween, hexId } from './prng.ts';
import type { SandboxRecord } from './records.ts';
import { invalid, notFound, refused, RpcError } from './rpc-error.ts';
import { freeAddresses, removeSandbox, sandboxDies, stopSandbox } from './sandbox-life.ts';
import type { SandboxBehaviour } from './script.ts';
import type { SimCore } from './sim-core.ts';
import { sandboxStateName, statusesOf, toSandboxStatus, verboseOnly } from './status-shapes.ts';

/** RPCs about sandboxes. */
type SandboxRpcs =
  | 'runPodSandbox'
  | 'stopPodSandbox'
  | 'removePodSandbox'
  | 'podSandboxStatus'
  | 'listPodSandbox'
  | 'updatePodSandboxResources';

/** RuntimeService's part about sandboxes. */
export function sandboxHandlers(core: SimCore): Pick<RuntimeHandlers, SandboxRpcs> {
  const list = sandboxLister(core.sandboxes);
  return {
    runPodSandbox: async ({ config, runtimeHandler }, call) => {
      const podSandboxId = await runSandbox(core, config, runtimeHandler, call);
      return { podSandboxId };
    },
    stopPodSandbox: ({ podSandboxId }) => {
      const record = core.sandboxes.find(podSandboxId);
      if (record !== undefined) stopSandbox(core, record);
      return {};
    },
    removePodSandbox: ({ podSandboxId }) => {
      const record = core.sandboxes.find(podSandboxId);
      if (record !== undefined) removeSandbox(core, record);
      return {};
    },
    podSandboxStatus: ({ podSandboxId, verbose }) => {
      const record = findSandbox(core, podSandboxId);
      const withEvents = core.plan.runtime.supportsEvents;
      return {
        status: toSandboxStatus(record),
        info: verboseOnly(verbose, 'info', () => verboseInfo(record)),
        containersStatuses: withEvents ? statusesOf(record) : [],
        timestamp: withEvents ? core.clock.now() : '0',
      };
    },
    listPodSandbox: ({ filter }) => list(filter),
    updatePodSandboxResources: ({ podSandboxId, overhead, resources }) => {
      if (!core.plan.runtime.supportsPodResources) {
        throw new RpcError(status.UNIMPLEMENTED, 'method UpdatePodSandboxResources not implemented');
      }
      const record = findSandbox(core, podSandboxId);
      const { linux } = record.config;
      if (linux !== undefined) {
        linux.overhead = overhead ?? linux.overhead;
        linux.resources = resources ?? linux.resources;
      }
      return {};
    },
  };
}

/** The sandbox, or NotFound. */
export function findSandbox(core: SimCore, id: string): SandboxRecord {
  const record = core.sandboxes.find(id);
  if (record === undefined) throw notFound('sandbox', id);
  return record;
}

async function runSandbox(
  core: SimCore,
  config: PodSandboxConfig | undefined,
  runtimeHandler: string,
  call: CallContext,
): Promise<string> {
  const metadata = config?.metadata;
  if (config === undefined || metadata === undefined) throw invalid('sandbox config must include metadata');
  if (!core.plan.runtime.handlers.some((handler) => handler.name === runtimeHandler)) {
    throw refused(`failed to get sandbox runtime: no runtime for ${JSON.stringify(runtimeHandler)} is configured`);
  }
  const name = [metadata.name, metadata.namespace, metadata.uid, metadata.attempt].join('_');
  const id = hexId(core.seed, 'sandbox', name, core.idsGiven++);
  const hostNetwork = config.linux?.securityContext?.namespaceOptions?.network === NamespaceMode.NODE;
  core.sandboxNames.reserve(name, id);
  const ips: string[] = [];
  try {
    const problem = hostNetwork ? undefined : core.readiness.problem('NetworkReady');
    if (problem !== undefined) {
      throw refused(`failed to setup network for sandbox ${JSON.stringify(id)}: ${problem.message}`);
    }
    if (!hostNetwork) for (const pool of core.addresses) ips.push(pool.take());
    await call.work();
  } catch (error) {
    freeAddresses(core, ips);
    core.sandboxNames.release(name);
    throw error;
  }
  const record: SandboxRecord = {
    id,
    name,
    metadata,
    config,
    labels: config.labels,
    runtimeHandler,
    createdAt: core.clock.now(),
    hostNetwork,
    behaviour: behaviourOf(core, metadata, config.labels),
    containers: new Set(),
    state: PodSandboxState.SANDBOX_READY,
    ips: ips.slice(),
    timer: undefined,
    wire: undefined,
  };
  core.sandboxes.add(record);
  core.events.emit(id, ContainerEventType.CONTAINER_CREATED_EVENT, record);
  core.events.emit(id, ContainerEventType.CONTAINER_STARTED_EVENT, record);
  planDeath(core, record);
  return id;
}

function behaviourOf(
  core: SimCore,
  metadata: PodSandboxMetadata,
  labels: Readonly<Record<string, string>>,
): SandboxBehaviour | undefined {
  if (core.plan.sandboxes.length === 0) return undefined;
  const facts = {
    rpc: 'RunPodSandbox',
    namespace: metadata.namespace,
    pod: metadata.name,
    container: '',
    image: '',
    labels,
  };
  return core.plan.sandboxes.find((rule) => factsMatch(rule.match, facts));
}

function planDeath(core: SimCore, record: SandboxRecord): void {
  const { behaviour, metadata } = record;
  if (behaviour?.diesAfter === undefined) return;
  const key = [metadata.namespace, metadata.name, metadata.attempt];
  const ms = drawBetween(behaviour.diesAfter, core.seed, 'sandbox dies', ...key);
  record.timer = core.timers.after(ms, () => sandboxDies(core, record, behaviour.killsContainers));
}

/** The fields of containerd's verbose sandbox info that people look at. */
function verboseInfo(record: SandboxRecord): object {
  return {
    pid: 0,
    processStatus: sandboxStateName(record.state),
    runtimeHandler: record.runtimeHandler,
    runtimeType: 'simulated',
    config: record.config,
    containers: Array.from(record.containers, (container) => container.id),
  };
}
