import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import type { ApiClient } from '../../actors/cluster/api/api-client.ts';
import { loadConfiguration } from '../../actors/configure/configuration/load-configuration.ts';
import type { FleetClock } from '../../actors/node/fleet/fleet-clock.ts';
import { NodeFleet } from '../../actors/node/fleet/node-fleet.ts';
import type { ProfileInput } from '../../actors/node/fleet/profile/profile-schema.ts';
import { checkProfile } from '../../actors/node/fleet/profile/read-profile.ts';
import { createMetrics } from '../../actors/record/metrics/metrics-registry.ts';

/** What a fleet of simulated nodes is made from that `actorlet nodes` would have from its flags. */
export interface StandInFleetOptions {
  api: ApiClient;
  count: number;
  profile?: ProfileInput;
  clock?: FleetClock;
  featureGates?: Record<string, boolean>;
  /** Further fields of the KubeletConfiguration. */
  settings?: Record<string, unknown>;
}

/** A fleet in this process, over an API server of one's own, with kubelet's defaults. */
export interface StandInFleet {
  fleet: NodeFleet;
  /** Its root directory, removed by {@link StandInFleet.remove}. */
  dir: string;
  remove: () => void;
}

/** Makes it; nothing of it runs yet. */
export function standInFleet({
  api,
  count,
  profile = {},
  clock,
  featureGates,
  settings = {},
}: StandInFleetOptions): StandInFleet {
  const dir = mkdtempSync(join(tmpdir(), 'stand-in-fleet-'));
  const { config, gates } = loadConfiguration({
    flags: [
      { flag: '--root-dir', path: 'podLogsDir', value: join(dir, 'logs') },
      ...(featureGates ? [{ flag: '--feature-gates', path: 'featureGates', value: featureGates }] : []),
      ...Object.entries(settings).map(([path, value]) => ({ flag: `--${path}`, path, value })),
    ],
    cgroupVersion: 2,
  });
  const fleet = new NodeFleet({
    ...{ profile: checkProfile(profile), share: { count, first: 0 }, seed: 1, api },
    ...(clock && { clock }),
    common: {
      config,
      featureGates: gates,
      metrics: createMetrics({ processMetrics: false }),
      agent: 'test',
      log: pino({ level: 'silent' }),
      journals: null,
      flags: {
        ...{ configFile: '', configDir: '', rootDir: dir, certDir: dir, kubeconfig: '', bootstrapKubeconfig: '' },
        ...{ hostnameOverride: '', nodeIPs: [], nodeLabels: {}, cloudProvider: '', runtimeCgroups: '', lockFile: '' },
        ...{ imageCredentialProviderConfig: '', imageCredentialProviderBinDir: '', exitOnLockContention: false },
        ...{ minimumContainerTtlDuration: 0, maximumDeadContainers: -1, maximumDeadContainersPerContainer: 1 },
        ...{ experimentalMounterPath: '', experimentalAllocatableIgnoreEviction: false },
      },
    },
    addressOf: () => '192.0.2.1',
  });
  return { fleet, dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}
