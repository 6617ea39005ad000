import type { Logger } from 'pino';
import type { CriClient } from '../../cri/client/cri-client.ts';
import type { Pod } from '../../machines/protocol/api-types.ts';
import type { FeatureGates } from '../configure/configuration/feature-gates.ts';
import type { KubeletConfiguration } from '../configure/configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../configure/configuration/kubelet-flags.ts';
import type { EventRecorder } from '../cluster/events/event-recorder.ts';
import { CredentialProviders } from '../runtime/images/credential-providers.ts';
import { ImagePuller, MISSING_PULL_SECRET } from '../runtime/images/image-puller.ts';
import { nodeLogins } from '../runtime/images/node-logins.ts';
import type { TokenSources } from '../runtime/images/plugin-token.ts';
import { PullRecords } from '../runtime/images/pull-records.ts';
import { loadProviderConfig } from '../runtime/images/provider-config.ts';
import type { LoginSources } from '../runtime/images/pull-logins.ts';
import type { JournalSettings } from '../record/journal/machine-journal.ts';
import type { Metrics } from '../record/metrics/metrics-registry.ts';

/** What the node's puller is made from. */
export interface NodeImagePullerOptions {
  cri: CriClient;
  config: KubeletConfiguration;
  featureGates: FeatureGates;
  flags: KubeletFlags;
  metrics: Metrics;
  log: Logger;
  events: EventRecorder;
  now: () => number;
  podOf: (uid: string) => Pod | undefined;
  pullSecret: NonNullable<LoginSources['pullSecret']>;
  /** Where the queue's messages are journaled; absent with `--no-journal`. */
  journal?: JournalSettings;
  /** For plugins that get a token of the pod's service account; undefined on a standalone node. */
  tokens: () => TokenSources | undefined;
}

/** The node's one image puller with all its sources of logins. Throws when the plugins' configuration is bad (IMG002 to IMG004). */
export function nodeImagePuller(options: NodeImagePullerOptions): ImagePuller {
  const { cri, config, featureGates, flags, metrics, log, events, now, podOf, pullSecret, tokens, journal } = options;
  const { imageCredentialProviderConfig: file, imageCredentialProviderBinDir: binDir } = flags;
  const withTokens = featureGates.enabled('KubeletServiceAccountTokenForCredentialProviders');
  const plugins =
    file === ''
      ? null
      : new CredentialProviders({ providers: loadProviderConfig(file, binDir, withTokens), tokens, log });
  return new ImagePuller({
    cri,
    serialize: config.serializeImagePulls,
    maxParallel: config.maxParallelImagePulls ?? null,
    qps: config.registryPullQPS,
    burst: config.registryBurst,
    records: pullRecords(options),
    podOf,
    metrics,
    log,
    now,
    ...(journal && { journal }),
    pullSecret,
    nodeLogins: nodeLogins({ rootDir: flags.rootDir, log }),
    ...(plugins !== null && { providers: (repository, pod) => plugins.loginsFor(repository, pod) }),
    onMissingSecrets: (uid, message) => {
      const { name = '', namespace = '' } = podOf(uid)?.metadata ?? {};
      events.record({
        object: { apiVersion: 'v1', kind: 'Pod', namespace, name, uid },
        at: now(),
        type: 'Warning',
        reason: MISSING_PULL_SECRET,
        message,
      });
    },
  });
}

/** Null while the gate KubeletEnsureSecretPulledImages is off. */
function pullRecords({ cri, config, flags, metrics, log, now }: NodeImagePullerOptions): PullRecords | null {
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
