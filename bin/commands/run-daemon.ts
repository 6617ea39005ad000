import type { Logger } from 'pino';
import type { ApiAccess } from '../../actors/cluster/certificates/api-access.ts';
import type { ActorletSettings } from '../../actors/configure/configuration/actorlet-settings.ts';
import { cgroupVersionOf } from '../../actors/configure/configuration/cgroup-version.ts';
import type { KubeletConfiguration } from '../../actors/configure/configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../../actors/configure/configuration/kubelet-flags.ts';
import { loadConfiguration } from '../../actors/configure/configuration/load-configuration.ts';
import { loggerOptionsOf } from '../../actors/configure/configuration/logger-options.ts';
import { agentVersion } from '../../actors/configure/configuration/version.ts';
import { setUpProcess } from '../../actors/host/process/process-setup.ts';
import { startThreads } from '../../actors/pods/shard/shard-pool.ts';
import { clientCertificateMetrics } from '../../actors/record/metrics/certificate-metrics.ts';
import { createLogger } from '../../actors/record/logging/create-logger.ts';
import { tellStandardError } from '../../actors/record/logging/journal-stream.ts';
import { nodeNameOf } from '../../actors/resources/machine/node-facts.ts';
import { startNode } from '../../actors/node/node.ts';
import { takeAgentLock } from '../../actors/node/agent-lock.ts';
import { startSdNotify } from '../../actors/node/sd-notify.ts';
import { watchdogMs } from '../../actors/node/watchdog.ts';
import { chooseRuntime } from '../../cri/private-containerd/choose-runtime.ts';
import type { PrivateContainerd } from '../../cri/private-containerd/start-private-containerd.ts';
import type { DaemonOptions } from '../flags/daemon-options.ts';
import { nameProcess } from './process-name.ts';

/** Runs the agent until SIGTERM or SIGINT. This file loads all of it; nothing but the daemon imports it. */
export async function runDaemon(options: DaemonOptions): Promise<void> {
  nameProcess(process.env, process.argv.slice(2));
  for (const warning of options.warnings) tellStandardError(`${warning}\n`, 4);
  const { kubelet, settings } = options;
  const threads = startThreads(settings.shards);
  const { config, warnings, origins } = loadConfiguration({
    configFile: kubelet.configFile,
    configDir: kubelet.configDir,
    flags: options.configuration,
    cgroupVersion: cgroupVersionOf(),
  });
  const workerLog = loggerOptionsOf(config.logging);
  const log = createLogger(workerLog);
  log.info({ version: agentVersion(), pid: process.pid, node: process.version }, 'actorlet starts');
  const watched = watchdogMs(process.env, process.pid);
  for (const warning of warnings) log.warn(warning);
  await setUpProcess(config, log);
  const { lockFile, exitOnLockContention } = kubelet;
  const lock = await takeAgentLock({ path: lockFile, exitOnContention: exitOnLockContention, log });
  const access = await apiAccessOf(kubelet, config, log);
  const kubeconfig = access?.kubeconfig ?? null;

  const { endpoint, containerd } = await runtimeFor(
    origins.isSet('containerRuntimeEndpoint') ? config.containerRuntimeEndpoint : '',
    kubelet.rootDir,
    config.cgroupDriver,
    settings,
    log,
  );
  const started = startNode({ config, flags: kubelet, settings, endpoint, log, workerLog, threads, kubeconfig });
  const node = await started.catch(async (error: unknown) => {
    await access?.rotation?.stop();
    // One that was there before has pods in it that are to go on.
    if (containerd?.adopted === false) await containerd.stop();
    else containerd?.detach();
    throw error;
  });
  if (access?.rotation) clientCertificateMetrics(node.metrics.registry, access.rotation);
  log.info('Started kubelet');
  const systemd = await startSdNotify({ watchdogMs: watched, checks: node.moves, log });

  process.on('SIGHUP', () => log.info('SIGHUP is ignored, as kubelet does'));
  const signal = await new Promise<string>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
    void lock?.wanted.then(() => resolve('lock contention'));
  });
  log.info({ signal }, 'actorlet ends; containers go on');
  systemd.stop();
  await access?.rotation?.stop();
  await node.stop();
  if (settings.stopPrivateContainerd) await containerd?.stop();
  else containerd?.detach();
  process.exit(0);
}

/** The way to the API server; null on a standalone node. May wait for the approval of the client certificate. */
async function apiAccessOf(flags: KubeletFlags, config: KubeletConfiguration, log: Logger): Promise<ApiAccess | null> {
  if (flags.kubeconfig === '' && flags.bootstrapKubeconfig === '') return null;
  const { openApiAccess } = await import('../../actors/cluster/certificates/api-access.ts');
  return openApiAccess({
    flags,
    config,
    nodeName: nodeNameOf(flags.hostnameOverride),
    userAgent: `kubelet/${agentVersion()} (linux) actorlet`,
    log,
    onHopeless: () => process.exit(1),
  });
}

/** The runtime to work with: the one that was named or found, else a private containerd. */
async function runtimeFor(
  named: string,
  rootDir: string,
  cgroupDriver: string,
  settings: ActorletSettings,
  log: Logger,
): Promise<{ endpoint: string; containerd: PrivateContainerd | null }> {
  const choice = await chooseRuntime(settings.privateContainerd, named);
  if (choice.kind === 'endpoint') return { endpoint: choice.endpoint, containerd: null };
  const { startPrivateContainerd } = await import('../../cri/private-containerd/start-private-containerd.ts');
  const containerd = await startPrivateContainerd({
    rootDir,
    log,
    cgroupDriver: cgroupDriver === 'systemd' ? 'systemd' : 'cgroupfs',
  });
  return { endpoint: containerd.endpoint, containerd };
}
