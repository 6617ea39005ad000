import { usesClaims } from '../claims/container-claims.ts';
import { extendedLimits } from '../qos/extended-limits.ts';
import { configError } from '../container-config/config-error.ts';
import { containerConfig } from '../container-config/container-config.ts';
import { behaves } from '../protocol/behaviour.ts';
import type { ContainerConfig } from '../protocol/cri-shapes.ts';
import { wantsFreshPull } from '../images/pull-policy.ts';
import type { ContainerPreparation, Effect } from '../protocol/effects.ts';
import { hostsAroundNodes, hostsFile } from '../container-config/hosts-file.ts';
import { terminationLogName } from '../container-config/termination-log.ts';
import { subPathsNeeded } from '../container-config/mounts-needed.ts';
import type { ContainerContext, ContainerWorld } from './container-context.ts';
import { imageAnnotations } from './image-annotations.ts';
import { withDefaultTag } from './image-name.ts';

/** Key of the next effect of this container. */
export function nextKey(context: ContainerContext): string {
  return `container/${context.name}/${context.seq + 1}`;
}

/** Image reference as the runtime is asked for it; the name was checked before. */
function imageOf(world: ContainerWorld): string {
  const named = withDefaultTag(world.container.image ?? '');
  return 'image' in named ? named.image : (world.container.image ?? '');
}

function runtimeOf({
  runtimeHandler,
  runtimeClass,
}: ContainerWorld): Pick<ContainerWorld, 'runtimeHandler' | 'runtimeClass'> {
  return { runtimeHandler, ...(runtimeClass !== undefined && { runtimeClass }) };
}

/** `image.Status` for the container's image. */
export function imageStatusEffect(context: ContainerContext, world: ContainerWorld): Effect {
  return {
    type: 'image.Status',
    key: nextKey(context),
    params: { image: imageOf(world), ...runtimeOf(world), ...imageAnnotations(world.pod, world.settings) },
  };
}

/** `image.Pull` for the container's image, with the names of the pod's pull secrets, never their values. */
export function imagePullEffect(context: ContainerContext, world: ContainerWorld): Effect {
  return {
    type: 'image.Pull',
    key: nextKey(context),
    params: {
      image: imageOf(world),
      ...runtimeOf(world),
      ...imageAnnotations(world.pod, world.settings),
      namespace: world.pod.metadata?.namespace ?? 'default',
      pullSecrets: (world.pod.spec?.imagePullSecrets ?? []).map((s) => s.name ?? ''),
      sandboxConfig: world.sandboxConfig,
      ...(wantsFreshPull(world.container.imagePullPolicy, world.settings) && { fresh: true }),
    },
  };
}

/** `/etc/hosts` of the pod, as the agent manages it; undefined when the container brings its own or uses the node's. */
function hostsFileFor(world: ContainerWorld): ContainerPreparation['hostsFile'] {
  const mountsOwn = world.container.volumeMounts?.some((m) => m.mountPath === '/etc/hosts') ?? false;
  if (mountsOwn) return undefined;
  const { hostsPath: nodes } = world.settings;
  if (nodes !== undefined && world.pod.spec?.hostNetwork) {
    const { head, tail } = hostsAroundNodes(world.pod);
    return { path: hostsPath(world), content: head, nodes: { path: nodes, tail } };
  }
  return { path: hostsPath(world), content: hostsFile(world.pod, world.podIPs, world.settings) };
}

/** Path of the pod's hosts file on the node. */
function hostsPath(world: ContainerWorld): string {
  return `${world.settings.rootDir}/pods/${world.pod.metadata?.uid ?? ''}/etc-hosts`;
}

/** Path of the termination log on the node. */
function terminationLogPath(context: ContainerContext, world: ContainerWorld): string {
  return `${world.settings.rootDir}/pods/${world.pod.metadata?.uid ?? ''}/containers/${context.name}/${terminationLogName(context.attempt)}`;
}

/** `host.PrepareContainer`: log folder, termination log, hosts file, sub paths. */
export function prepareEffect(
  context: ContainerContext,
  world: ContainerWorld,
): { effect: Effect } | { error: string } {
  const logDirectory = world.sandboxConfig?.logDirectory ?? '';
  const { pod, container, podIPs, settings } = world;
  const subPaths = subPathsNeeded(pod, container, podIPs, settings, world.volumePaths ?? {}, mayNameDevices(world));
  if ('error' in subPaths) return { error: subPaths.error };
  return {
    effect: {
      type: 'host.PrepareContainer',
      key: nextKey(context),
      params: {
        podUid: world.pod.metadata?.uid ?? '',
        containerName: context.name,
        logDirectory,
        containerLogDirectory: `${logDirectory}/${context.name}`,
        terminationLogPath: terminationLogPath(context, world),
        hostsFile: hostsFileFor(world),
        ...subPaths,
        ...(logsTellRestarts(world) && { attempt: context.attempt }),
      },
    },
  };
}

/** The runtime knows no container of this name: logs of earlier ones may tell how often it was restarted (kubelet `startContainer`). */
function logsTellRestarts({ observed, settings }: ContainerWorld): boolean {
  return observed === null && behaves(settings, 'logsTellRestarts');
}

/**
 * `cri.CreateContainer`, or why the configuration cannot be made (reason and message of `state.waiting`). An ephemeral container
 * joins the process namespace of its target, so it is not made before that (kubelet `getTargetID`).
 */
export function createEffect(
  context: ContainerContext,
  world: ContainerWorld,
): { effect: Effect; config: ContainerConfig } | { error: { reason: string; message: string } } {
  if (context.image === null || world.sandboxConfig === null) {
    return { error: { reason: 'CreateContainerError', message: 'the image or the sandbox is not ready' } };
  }
  if (world.missingTarget !== undefined && behaves(world.settings, 'failedStartsAsKubelets'))
    return configError(`unable to find target container ${world.missingTarget}`);
  const made = containerConfig({
    pod: world.pod,
    container: world.container,
    kind: context.kind,
    attempt: context.attempt,
    image: context.image,
    podIPs: world.podIPs,
    volumePaths: world.volumePaths ?? {},
    ...(world.volumeTraits && { volumeTraits: world.volumeTraits }),
    ...(world.imageVolumes && { imageVolumes: world.imageVolumes }),
    subPaths: context.subPaths,
    terminationLogPath: terminationLogPath(context, world),
    hostsPath: hostsPath(world),
    settings: world.settings,
    ...(world.targetId !== '' && { targetId: world.targetId }),
    ...(mayNameDevices(world) && { ofPlugins: true as const }),
  });
  if ('error' in made) return made;
  const config = withGrant(made.config, world);
  return {
    config,
    effect: {
      type: 'cri.CreateContainer',
      key: nextKey(context),
      params: {
        podSandboxId: world.sandboxId,
        config,
        sandboxConfig: world.sandboxConfig,
        ...(made.env && { env: made.env }),
        ...(asksForDevices(world) && { devices: true as const }),
      },
    },
  };
}

function asksForDevices({ pod, container, settings }: ContainerWorld): boolean {
  if (usesClaims(pod, container) && behaves(settings, 'claimsArePrepared')) return true;
  return extendedLimits(container).length > 0 && behaves(settings, 'devicesOfPlugins');
}

/** Its command and sub paths may name variables that plugins gave it. */
function mayNameDevices(world: ContainerWorld): boolean {
  return behaves(world.settings, 'variablesOfDevices') && asksForDevices(world);
}

/** The configuration with the CPUs and the memory of the node that the container was given. */
function withGrant(config: ContainerConfig, { grant, withoutQuota }: ContainerWorld): ContainerConfig {
  if (grant?.cpus === undefined && grant?.mems === undefined) return config;
  const { resources } = config.linux;
  const given = {
    ...resources,
    ...(withoutQuota && resources.cpuPeriod !== undefined && { cpuQuota: '-1' }),
    ...(grant.cpus !== undefined && { cpusetCpus: grant.cpus }),
    ...(grant.mems !== undefined && { cpusetMems: grant.mems }),
  };
  return { ...config, linux: { ...config.linux, resources: given } };
}
