import { statfs } from 'node:fs/promises';
import type { Logger } from 'pino';
import type { CriClient } from '../../cri/client/cri-client.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import { podObject } from '../../machines/protocol/recorded-event.ts';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../configure/configuration/kubelet-flags.ts';
import type { EventRecorder } from '../cluster/events/event-recorder.ts';
import { CredentialProviders } from '../runtime/images/credential-providers.ts';
import { ImagePuller, MISSING_PULL_SECRET } from '../runtime/images/image-puller.ts';
import { credentialProviderMetrics } from '../record/metrics/plugin-metrics.ts';
import { nodeLogins } from '../runtime/images/node-logins.ts';
import { PullRecords } from '../runtime/images/pull-records.ts';
import { loadProviderConfig } from '../runtime/images/provider-config.ts';
import type { LoginSources } from '../runtime/images/pull-logins.ts';
import type { JournalSettings } from '../record/journal/machine-journal.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';
import type { ImageEdge, ImageLinks } from './edges.ts';
import type { NodeGround } from './node-ground.ts';

/** What the node's puller is made from. */
export interface NodeImagePullerOptions {
  cri: CriClient;
  config: KubeletConfiguration;
  metrics: Metrics;
  log: Logger;
  events: EventRecorder;
  now: () => number;
  /** A clock that nobody can set, ms. */
  steady: () => number;
  edge: ImageEdge;
  podOf: (uid: string) => Pod | undefined;
  pullSecret: NonNullable<LoginSources['pullSecret']>;
  /** Where the queue's messages are journaled; absent with `--no-journal`. */
  journal?: JournalSettings;
}

/** The node's one image puller with all its sources of logins. */
export function nodeImagePuller(options: NodeImagePullerOptions): ImagePuller {
  const { cri, config, metrics, log, events, now, steady, edge, podOf, pullSecret, journal } = options;
  return new ImagePuller({
    ...{ cri, podOf, metrics, log, pullSecret, ...edge },
    serialize: config.serializeImagePulls,
    maxParallel: config.maxParallelImagePulls ?? null,
    qps: config.registryPullQPS,
    burst: config.registryBurst,
    ...{ now, steady },
    ...(journal && { journal }),
    onMissingSecrets: (uid, message) => {
      events.record({
        object: podObject({ metadata: { ...podOf(uid)?.metadata, uid } }),
        at: now(),
        type: 'Warning',
        reason: MISSING_PULL_SECRET,
        message,
      });
    },
  });
}

interface ImageEdgeOptions extends ImageLinks {
  ground: NodeGround;
  flags: KubeletFlags;
  cri: CriClient;
  now: () => number;
}

/** What images need of this machine's files: plugins, logins, records. Throws IMG002 to IMG004 for plugins. */
export function imageEdge(options: ImageEdgeOptions): ImageEdge {
  const { flags, ground } = options;
  const plugins = flags.imageCredentialProviderConfig === '' ? null : credentialProviders(options);
  return {
    records: pullRecords(options),
    disk: async (path) => {
      const { blocks, bavail, bsize } = await statfs(path);
      return { capacityBytes: blocks * bsize, availableBytes: bavail * bsize };
    },
    nodeLogins: nodeLogins({ rootDir: flags.rootDir, log: ground.log }),
    ...(plugins !== null && { providers: (repository, pod) => plugins.loginsFor(repository, pod) }),
  };
}

function credentialProviders({ flags, ground, tokens }: ImageEdgeOptions): CredentialProviders {
  const { featureGates, log, metrics } = ground;
  const { imageCredentialProviderConfig: file, imageCredentialProviderBinDir: binDir } = flags;
  const withTokens = featureGates.enabled('KubeletServiceAccountTokenForCredentialProviders');
  const { providers, hash } = loadProviderConfig(file, binDir, withTokens);
  return new CredentialProviders({
    ...{ providers, tokens, log },
    onRun: credentialProviderMetrics(metrics.registry, hash),
  });
}

/** Null while the gate KubeletEnsureSecretPulledImages is off. */
function pullRecords({ ground, flags, cri, now }: ImageEdgeOptions): PullRecords | null {
  const { config, metrics, log } = ground;
  const policy = config.imagePullCredentialsVerificationPolicy;
  if (policy === undefined) return null;
  // kubelet's caches hold so many; here all of them are in memory
  const intentsInMemory = Math.min(1024, 2 * Math.max(config.maxPods, config.maxParallelImagePulls ?? 0));
  const recordsInMemory = Math.min(2000, 5 * config.maxPods);
  return new PullRecords({
    rootDir: flags.rootDir,
    policy: { policy, allowlist: config.preloadedImagesVerificationAllowlist },
    listImages: async () => (await cri.image.listImages({})).images,
    log,
    now,
    onCheck: (result) => metrics.imageMustPullChecks.inc({ result }),
    onCounts: ({ intents, records }) => {
      metrics.pullIntents.set(intents);
      metrics.pulledRecords.set(records);
      metrics.pullIntentsUsage.set(percent(intents, intentsInMemory));
      metrics.pulledRecordsUsage.set(percent(records, recordsInMemory));
    },
  });
}

function percent(count: number, of: number): number {
  return Math.floor((count * 100) / of);
}
