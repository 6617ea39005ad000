import { resolveFeatureGates } from '../configure/configuration/feature-gates.ts';
import { startPodSources } from '../pods/sources/pod-sources.ts';
import type { PodSources } from '../pods/sources/pod-sources.ts';
import type { Supervisor } from '../pods/supervisor/supervisor.ts';
import type { NodeOptions } from './node-options.ts';
import type { PodIntake } from './pod-intake.ts';

/** Starts the sources of pods that the configuration names, and the embedder's own. */
export function startNodeSources(
  options: NodeOptions,
  nodeName: string,
  supervisor: Supervisor,
  intake: PodIntake,
  now: () => number,
): PodSources {
  const { config, log } = options;
  return startPodSources({
    ...(config.staticPodPath !== '' && { staticPodPath: config.staticPodPath }),
    ...(config.staticPodURL !== '' && { staticPodURL: config.staticPodURL }),
    staticPodURLHeader: config.staticPodURLHeader,
    fileCheckFrequencyMs: config.fileCheckFrequency,
    httpCheckFrequencyMs: config.httpCheckFrequency,
    nodeName,
    gates: { envFiles: resolveFeatureGates(config.featureGates).gates.enabled('EnvFiles') },
    log,
    now,
    ...(options.source !== undefined && { own: options.source }),
    otherSources: options.kubeconfig ? ['api'] : [],
    onUpdate: (update) => intake.take(update),
    onReadyChange: () => {
      supervisor.take({ type: 'sourcesReady', at: now() });
      intake.tellStatics();
    },
    onError: (error) => log.error({ err: error }, 'Pod source'),
  });
}
