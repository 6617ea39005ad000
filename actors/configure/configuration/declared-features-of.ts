import { declaredFeatures } from '../../../machines/node-object/declared-features.ts';
import { GATE_EFFECTS } from './effects/gate-effects.ts';
import { resolveFeatureGates } from './feature-gates.ts';
import type { KubeletConfiguration } from './kubelet-configuration.ts';

/**
 * What the node declares that it can do (gate NodeDeclaredFeatures, KEP-5328), settled at the start as kubelet does; undefined with
 * the gate off. A gate that has no effect here is none that the node could declare.
 */
export function declaredFeaturesOf(
  config: Pick<KubeletConfiguration, 'featureGates' | 'cpuManagerPolicy'>,
): string[] | undefined {
  const { gates } = resolveFeatureGates(config.featureGates);
  if (!gates.enabled('NodeDeclaredFeatures')) return undefined;
  return declaredFeatures({
    cpuManagerPolicy: config.cpuManagerPolicy,
    enabled: (gate) => {
      const effect = GATE_EFFECTS[gate];
      return effect?.kind === 'fixed' ? effect.is : gates.enabled(gate);
    },
  });
}
