import type { Container, EphemeralContainer, Pod } from '../protocol/api-types.ts';
import type { ContainerConfig, EnvEntry } from '../protocol/cri-shapes.ts';
import type { EnvPlan, ImagePresent } from '../protocol/effects.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';
import { podHostname } from '../sandbox-config/pod-hostname.ts';
import { configError } from './config-error.ts';
import type { ConfigError } from './config-error.ts';
import { containerResources } from './container-resources.ts';
import { containerEnv } from './env.ts';
import { containerAnnotations, containerLabels } from './labels.ts';
import { containerSecurity, runAsNonRootFault } from './security-context.ts';
import { containerDevices, containerMounts } from './volume-mounts.ts';
import type { MountPaths } from './volume-mounts.ts';
import { behaves } from '../protocol/behaviour.ts';
import { CriSignal } from '../protocol/cri-signal.ts';
import { assertFits, expandFrom, orTooLong } from './expansion.ts';

/** All that a container's config is made of. */
export interface ContainerConfigInput extends MountPaths {
  pod: Pod;
  container: Container | EphemeralContainer;
  /** Part the container plays. An ephemeral container has no resources; the others are made alike. */
  kind: 'init' | 'sidecar' | 'regular' | 'ephemeral';
  /** Restart count: 0 for the first run. Names the log file `<container>/<attempt>.log`. */
  attempt: number;
  image: ImagePresent;
  /** Pod addresses, primary first; the node's on the host network. */
  podIPs: readonly string[];
  settings: NodeSettings;
  /** Id of the container that an ephemeral container targets. */
  targetId?: string;
  /** Plugins may have given it variables, which its command and its sub paths may name. */
  ofPlugins?: true;
}

/**
 * A config, or the waiting reason `CreateContainerConfigError` with the kubelet's message. With `env`, the worker
 * fills `envs`, `command` and `args`, which are empty.
 */
export type ContainerConfigResult = { config: ContainerConfig; env?: EnvPlan } | { error: ConfigError };

/** The CRI config of one container, as the kubelet makes it. */
export function containerConfig(input: ContainerConfigInput): ContainerConfigResult {
  return orTooLong(() => configOf(input), configError);
}

function configOf(input: ContainerConfigInput): ContainerConfigResult {
  const { pod, attempt, image, podIPs, settings } = input;
  const container: Container = input.container;
  // The kubelet needs the name for /etc/hosts and gives up here when it is invalid.
  const hostname = podHostname(pod, settings.clusterDomain);
  if ('error' in hostname) return configError(hostname.error);
  const env = containerEnv(pod, container, podIPs, settings, input.volumePaths, input.ofPlugins);
  if ('error' in env) return env;
  const mounts = containerMounts(pod, container, env.plan ? null : env.envs, podIPs, input, settings);
  if ('error' in mounts) return mounts;
  const devices = containerDevices(pod, container, input.volumePaths, settings);
  if ('error' in devices) return devices;
  const rootFault = runAsNonRootFault(pod, container, image);
  if (rootFault !== null) return configError(rootFault);
  const security = containerSecurity(pod, container, image, settings, input);
  if ('error' in security) return security;

  const config: ContainerConfig = {
    metadata: { name: container.name, attempt },
    image: { image: image.imageRef, userSpecifiedImage: container.image ?? '' },
    ...(env.plan ? { command: [], args: [] } : expandCommand(container, env.envs)),
    workingDir: container.workingDir ?? '',
    envs: env.envs,
    mounts: mounts.mounts,
    devices: devices.devices,
    labels: containerLabels(pod, container),
    annotations: containerAnnotations(pod, container, attempt),
    logPath: `${container.name}/${attempt}.log`,
    stdin: container.stdin === true,
    stdinOnce: container.stdinOnce === true,
    tty: container.tty === true,
    linux: { resources: containerResources(pod, container, settings), securityContext: security.security },
  };
  const stopSignal = container.lifecycle?.stopSignal;
  if (stopSignal && (settings.stopSignals || !behaves(settings, 'gatedStopSignals')))
    config.stopSignal = stopSignalNumber(stopSignal);
  return env.plan ? { config, env: env.plan } : { config };
}

/**
 * CRI number of `lifecycle.stopSignal` (KEP-4960): `SIGUSR1`, `SIGRTMIN+3`, `SIGRTMAX-2` ...;
 * 0, the runtime's default, for a name that is none.
 */
export function stopSignalNumber(name: string): CriSignal {
  const key = name.replace('+', 'PLUS').replace('-', 'MINUS');
  return isSignal(key) ? CriSignal[key] : CriSignal.RUNTIME_DEFAULT;
}

/** The name that {@link stopSignalNumber} was given; undefined where the runtime says nothing. */
export function stopSignalName(signal: number): string | undefined {
  const key = SIGNAL_NAMES.get(signal);
  return key?.replace('PLUS', '+').replace('MINUS', '-');
}

const SIGNAL_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(CriSignal).flatMap(([name, signal]) => (signal === CriSignal.RUNTIME_DEFAULT ? [] : [[signal, name]])),
);

function isSignal(key: string): key is keyof typeof CriSignal {
  return Object.hasOwn(CriSignal, key);
}

/** Command and arguments with `$(NAME)` replaced from the container's environment. */
export function expandCommand(container: Container, envs: readonly EnvEntry[]): { command: string[]; args: string[] } {
  const values = new Map(envs.map(({ key, value }) => [key, value]));
  const each = (text: string): string => expandFrom(text, values);
  const command = (container.command ?? []).map(each);
  const args = (container.args ?? []).map(each);
  assertFits([...values.values(), ...command, ...args]);
  return { command, args };
}
