import { join } from 'node:path';
import { Command } from 'commander';
import type { Logger } from 'pino';
import { cgroupVersionOf } from '../actors/configure/configuration/cgroup-version.ts';
import { loadConfiguration } from '../actors/configure/configuration/load-configuration.ts';
import { loggerOptionsOf } from '../actors/configure/configuration/logger-options.ts';
import { leafPaths } from '../actors/configure/configuration/merge-patch.ts';
import { createLogger } from '../actors/record/logging/create-logger.ts';
import { startNode } from '../actors/node/node.ts';
import type { NodeOptions, RunningNode } from '../actors/node/node-options.ts';
import type { OwnSource } from '../actors/pods/sources/own-source.ts';
import { daemonFlags, readDaemonOptions } from './flags/daemon-options.ts';

/*
 * What `import { ... } from 'actorlet'` gives: starting a node inside another program. Everything else is imported from
 * its own file, e.g. `actorlet/machines/charts/chart-of` or `actorlet/cri/sim/simulated-runtime`; docs/library.md lists them.
 */

export { loadConfiguration, startNode };
export type { NodeOptions, OwnSource, RunningNode };
export type { TellPods } from '../actors/pods/sources/own-source.ts';
export type { PodReport } from '../actors/pods/shard/shard-protocol.ts';

/** A node inside of a program. */
export interface EmbeddedNode {
  /** `unix://...` of a CRI v1 runtime. */
  endpoint: string;
  /** Folder for all that the node keeps: pods, volumes, journal. */
  rootDir: string;
  /** Fields of the KubeletConfiguration in their v1beta1 form, e.g. `{ syncFrequency: '30s' }`. */
  configuration?: Record<string, unknown>;
  /** Flags of `actorlet`, e.g. `['--hostname-override', 'edge-1', '--shards', '2']`. */
  flags?: readonly string[];
  /** Folder of links to container logs; default `/var/log/containers`. */
  containerLogsDir?: string;
  source?: OwnSource;
  onPod?: NodeOptions['onPod'];
  runtimePatienceMs?: NodeOptions['runtimePatienceMs'];
  /** Where the node's own words go; default: errors, as text, to standard error. Without level `info` the worker threads, which write for themselves, tell errors only. */
  log?: Logger;
}

/** No ports are opened, and no packet rules made, unless the configuration says so: an embedded node is asked through {@link RunningNode}. */
const QUIET = { enableServer: false, healthzPort: 0, readOnlyPort: 0, makeIPTablesUtilChains: false };

/**
 * Starts a standalone node in this process, with configuration and flags of the command `actorlet`. Containers go on when
 * it is stopped. Throws ConfigurationInvalid, or ActorletError when the runtime does not answer.
 */
export async function startEmbeddedNode(options: EmbeddedNode): Promise<RunningNode> {
  const { endpoint, rootDir, configuration = {}, flags = [], containerLogsDir, source, onPod } = options;
  const { runtimePatienceMs } = options;
  const command = new Command();
  daemonFlags(command);
  command.action(() => undefined);
  command.parse(['--root-dir', rootDir, '--device-plugins-dir', join(rootDir, 'device-plugins'), ...flags], {
    from: 'user',
  });
  const read = readDaemonOptions(command);
  const given: Record<string, unknown> = { ...QUIET, ...configuration };
  const { config, warnings } = loadConfiguration({
    flags: [
      ...leafPaths(given).map((path) => ({ flag: `configuration.${path}`, path, value: at(given, path) })),
      ...read.configuration,
    ],
    cgroupVersion: cgroupVersionOf(),
  });
  const log = options.log ?? errorsOnly();
  for (const warning of warnings) log.warn(warning);
  return startNode({
    config,
    flags: read.kubelet,
    settings: read.settings,
    endpoint,
    log,
    workerLog: {
      ...loggerOptionsOf(config.logging),
      ...(!log.isLevelEnabled('info') && { verbosity: -1, vmodule: [] }),
    },
    ...(containerLogsDir !== undefined && { containerLogsDir }),
    ...(source !== undefined && { source }),
    ...(onPod !== undefined && { onPod }),
    ...(runtimePatienceMs !== undefined && { runtimePatienceMs }),
  });
}

function at(value: Record<string, unknown>, path: string): unknown {
  return path.split('.').reduce<unknown>((part, key) => (part as Record<string, unknown> | undefined)?.[key], value);
}

function errorsOnly(): Logger {
  const log = createLogger({ format: 'text', verbosity: 0 });
  log.level = 'error';
  return log;
}
