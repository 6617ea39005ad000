import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import { ContainerState, PodSandboxState } from '../generated/runtime/v1/api.ts';
import type { CreateContainerRequest } from '../generated/runtime/v1/api.ts';
import type { CallContext } from './call-context.ts';
import { factsMatch } from './glob.ts';
import { hexId } from './prng.ts';
import type { ContainerRecord, SandboxRecord } from './records.ts';
import { invalid, refused, RpcError } from './rpc-error.ts';
import { containerSchema } from './script.ts';
import type { ContainerBehaviour } from './script.ts';
import type { SimCore } from './sim-core.ts';

const PLAIN: ContainerBehaviour = containerSchema.parse({});

/** CreateContainer: the name is reserved while the call takes its time, and let go when it fails. */
export async function createContainer(
  core: SimCore,
  { podSandboxId, config }: CreateContainerRequest,
  call: CallContext,
): Promise<ContainerRecord> {
  const sandbox = core.sandboxes.find(podSandboxId);
  if (sandbox === undefined) {
    throw new RpcError(status.NOT_FOUND, `failed to find sandbox id ${JSON.stringify(podSandboxId)}: not found`);
  }
  const metadata = config?.metadata;
  if (config === undefined || metadata === undefined) throw invalid('container config must include metadata');
  requireReady(sandbox);
  const pod = sandbox.metadata;
  const name = [metadata.name, pod.name, pod.namespace, pod.uid, metadata.attempt].join('_');
  const id = hexId(core.seed, 'container', name, core.idsGiven++);
  core.containerNames.reserve(name, id);
  try {
    const wanted = config.image?.image ?? '';
    const image = wanted === '' ? undefined : core.images.find(wanted);
    if (image === undefined) {
      throw new RpcError(status.NOT_FOUND, `failed to resolve image ${JSON.stringify(wanted)}: not found`);
    }
    await call.work();
    // The sandbox may have gone meanwhile.
    if (!core.sandboxes.byId.has(sandbox.id)) {
      throw new RpcError(status.NOT_FOUND, `failed to find sandbox id ${JSON.stringify(podSandboxId)}: not found`);
    }
    requireReady(sandbox);
    const logDirectory = sandbox.config.logDirectory;
    const record: ContainerRecord = {
      id,
      name,
      sandbox,
      metadata,
      config,
      labels: config.labels,
      image,
      createdAt: core.clock.now(),
      logPath: logDirectory !== '' && config.logPath !== '' ? join(logDirectory, config.logPath) : '',
      behaviour: behaviourOf(core, sandbox, config),
      state: ContainerState.CONTAINER_CREATED,
      startedAt: '0',
      finishedAt: '0',
      exitCode: 0,
      reason: '',
      message: '',
      resources: config.linux?.resources,
      timers: undefined,
      exitWaiters: undefined,
      execCounts: undefined,
      stopSignalled: false,
      play: undefined,
      files: undefined,
      wire: undefined,
    };
    core.containers.add(record);
    sandbox.containers.add(record);
    return record;
  } catch (error) {
    core.containerNames.release(name);
    throw error;
  }
}

function requireReady(sandbox: SandboxRecord): void {
  if (sandbox.state !== PodSandboxState.SANDBOX_READY) {
    throw refused(
      `failed to get sandbox container task: sandbox container ${JSON.stringify(sandbox.id)} is not running`,
    );
  }
}

function behaviourOf(
  core: SimCore,
  sandbox: SandboxRecord,
  config: { metadata?: { name: string }; image?: { image: string; userSpecifiedImage: string } },
): ContainerBehaviour {
  const facts = {
    rpc: 'CreateContainer',
    namespace: sandbox.metadata.namespace,
    pod: sandbox.metadata.name,
    container: config.metadata?.name ?? '',
    image: config.image?.userSpecifiedImage || (config.image?.image ?? ''),
    labels: sandbox.config.labels,
  };
  const planned = core.plan.containers.find((rule) => factsMatch(rule.match, facts));
  return planned ?? core.otherwise?.(sandbox, facts.container) ?? PLAIN;
}
