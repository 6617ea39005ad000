import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { randomInt } from 'node:crypto';
import { networkInterfaces, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pino } from 'pino';
import type { Logger } from 'pino';
import { createApiClient } from '../../actors/cluster/api/create-api-client.ts';
import { serviceAccountAccess } from '../../actors/cluster/api/service-account.ts';
import type { KubeletFlags } from '../../actors/configure/configuration/kubelet-flags.ts';
import { agentVersion } from '../../actors/configure/configuration/version.ts';
import { inspectorAddress } from '../../actors/configure/configuration/inspector-address.ts';
import type { InspectorAddress } from '../../actors/configure/configuration/inspector-address.ts';
import type { AgentInspector } from '../../actors/inspect/inspector/start-inspector.ts';
import { fleetClock } from '../../actors/node/fleet/fleet-clock.ts';
import { startFleetHealth } from '../../actors/node/fleet/fleet-health.ts';
import { startFleetServer } from '../../actors/node/fleet/fleet-server.ts';
import { FleetReport } from '../../actors/node/fleet/fleet-report.ts';
import { RequestLanes } from '../../actors/node/fleet/request-lanes.ts';
import { NodeFleet } from '../../actors/node/fleet/node-fleet.ts';
import { addressOf, rangeOf } from '../../actors/node/fleet/profile/plan-nodes.ts';
import type { PlannedNode } from '../../actors/node/fleet/profile/plan-nodes.ts';
import { checkProfile, readProfile } from '../../actors/node/fleet/profile/read-profile.ts';
import type { Profile } from '../../actors/node/fleet/profile/profile-schema.ts';
import { createMetrics } from '../../actors/record/metrics/metrics-registry.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { nodesErrors } from '../../machines/errors/nodes-errors.ts';
import { showFleet } from './fleet-table.ts';
import type { NodesFlags } from './nodes-flags.ts';
import { nodesConfiguration } from './nodes-configuration.ts';

/** Runs the nodes until SIGTERM or SIGINT. */
export async function runNodes(given: NodesFlags): Promise<void> {
  const profile = given.profile === undefined ? checkProfile({}) : readProfile(given.profile);
  const inspectAt = inspectAddressOf(given);
  const rootDir = given.rootDir === undefined ? mkdtempSync(join(tmpdir(), 'actorlet-nodes-')) : resolve(given.rootDir);
  mkdirSync(rootDir, { recursive: true });
  try {
    await work(given, profile, rootDir, inspectAt);
  } finally {
    if (given.rootDir === undefined) rmSync(rootDir, { recursive: true, force: true });
  }
  process.exit(0);
}

async function work(
  given: NodesFlags,
  profile: Profile,
  rootDir: string,
  inspectAt: InspectorAddress | null,
): Promise<void> {
  const { count, first, cleanup } = given;
  const seed = given.seed ?? profile.seed ?? randomInt(0x1_0000_0000);
  const report = new FleetReport();
  const log = logger(given.logFile, report);
  const api = createApiClient({
    lanes: new RequestLanes(),
    kubeconfig: given.kubeconfig ?? serviceAccountAccess({ log }),
    userAgent: `kubelet/${agentVersion()} (linux) actorlet-nodes`,
    log,
    onRequest: (seen) => report.request(seen),
  });
  // From here on, not from when there are nodes: the first process of a container does not end by a signal that nobody listens to.
  const ended = new Promise<'ended'>((resolved) => {
    process.once('SIGTERM', () => resolved('ended'));
    process.once('SIGINT', () => resolved('ended'));
  });
  const loaded = await Promise.race([nodesConfiguration(given, rootDir, api), ended]);
  if (loaded === 'ended') {
    api.close();
    return;
  }
  for (const warning of loaded.warnings) log.warn(warning);
  const common = {
    config: loaded.config,
    featureGates: loaded.gates,
    flags: flagsOf(rootDir),
    metrics: createMetrics({ processMetrics: false }),
    agent: agentVersion(),
    log,
    journals:
      given.journalDir === undefined ? null : { dir: resolve(given.journalDir), maxBytes: given.journalMaxBytes },
  };
  const fleet = new NodeFleet({
    ...{ profile, seed, api, common, clock: fleetClock(given.speed) },
    share: { count, first },
    addressOf: addresses(given),
  });
  const server =
    given.port === 0
      ? null
      : await startFleetServer({ fleet, common, api, ownAddresses: given.nodeRange !== undefined });
  const health = await startFleetHealth(given.healthzPort, fleet.nodes, log);
  const inspector = await inspectorOf(given, inspectAt, log);
  report.watch(fleet);
  const shown = showFleet(report, given.output, { seed, count, speed: given.speed });
  await Promise.race([fleet.start(), ended]);
  await ended;
  shown.end(cleanup ? 'removing the nodes' : 'the nodes are left');
  await health?.close();
  await server?.close();
  await inspector?.stop();
  await fleet.stop(cleanup);
  api.close();
}

/** Where the inspector of all nodes is to listen; null without one. */
function inspectAddressOf({ inspect, journalDir }: NodesFlags): InspectorAddress | null {
  if (inspect === undefined) return null;
  const address = inspectorAddress(inspect === true ? '' : inspect);
  if (address === null)
    throw new ActorletError(nodesErrors.flagInvalid, {
      flag: '--inspect',
      value: String(inspect),
      accepted: 'host:port, host or port',
    });
  if (journalDir === undefined) throw new ActorletError(nodesErrors.inspectNeedsJournals);
  return address;
}

/** Loaded only when it is asked for, as by an agent. Its address has a token: what is printed may be kept by many. */
async function inspectorOf(
  { journalDir }: NodesFlags,
  address: InspectorAddress | null,
  log: Logger,
): Promise<AgentInspector | null> {
  if (address === null || journalDir === undefined) return null;
  const dir = resolve(journalDir);
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const { startInspector } = await import('../../actors/inspect/inspector/start-inspector.ts');
  const workerLog = { format: 'text', verbosity: -1 } as const;
  const inspector = await startInspector({ dir, fleet: true, address, log, workerLog });
  if (inspector.address !== null)
    process.stderr.write(`inspector: open the address in ${join(dir, 'inspector-address')}\n`);
  return inspector;
}

/** Where each node says that it can be reached: an address of its own, or the machine's. */
function addresses({ address, nodeRange, count, first }: NodesFlags): (node: PlannedNode) => string {
  if (nodeRange === undefined) {
    const own = address ?? machineAddress();
    return () => own;
  }
  const [base, hundreds] = rangeOf(nodeRange);
  const room = hundreds * 256 - 2;
  if (first + count > room)
    throw new ActorletError(nodesErrors.rangeTooSmall, {
      what: '--node-range',
      range: nodeRange,
      room,
      count: first + count,
    });
  return ({ index }) => addressOf(base + 1 + index);
}

/** The first address that is not this machine's alone. */
function machineAddress(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '127.0.0.1';
}

function flagsOf(rootDir: string): KubeletFlags {
  return {
    ...{
      configFile: '',
      configDir: '',
      rootDir,
      certDir: join(rootDir, 'pki'),
      kubeconfig: '',
      bootstrapKubeconfig: '',
    },
    ...{ hostnameOverride: '', nodeIPs: [], nodeLabels: {}, cloudProvider: '', runtimeCgroups: '' },
    ...{
      imageCredentialProviderConfig: '',
      imageCredentialProviderBinDir: '',
      lockFile: '',
      exitOnLockContention: false,
    },
    ...{ minimumContainerTtlDuration: 0, maximumDeadContainers: -1, maximumDeadContainersPerContainer: 1 },
    ...{ experimentalMounterPath: '', experimentalAllocatableIgnoreEviction: false },
  };
}

/** Errors are counted and the last is shown; all is written only where somebody wants it. */
function logger(file: string | undefined, report: FleetReport): Logger {
  const out = file === undefined ? null : pino.destination({ dest: resolve(file), mkdir: true, sync: false });
  return pino(
    { level: file === undefined ? 'warn' : 'info', base: null },
    {
      write: (line: string) => {
        report.logged(line);
        out?.write(line);
      },
    },
  );
}
