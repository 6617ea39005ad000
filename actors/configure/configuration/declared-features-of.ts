import { declaredFeatures } from '../../../machines/node-object/declared-features.ts';
import { GATE_EFFECTS } from './effects/gate-effects.ts';
import type { FeatureGates } from './feature-gates.ts';
import type { KubeletConfiguration } from './kubelet-configuration.ts';

/**
 * What the node declares that it can do (gate NodeDeclaredFeatures, KEP-5328), settled at the start as kubelet does; undefined with
 * the gate off. A gate that has no effect here is none that the node could declare.
 */
export function declaredFeaturesOf(
  { cpuManagerPolicy }: Pick<KubeletConfiguration, 'cpuManagerPolicy'>,
  gates: FeatureGates,
): string[] | undefined {
  if (!gates.enabled('NodeDeclaredFeatures')) return undefined;
  return declaredFeatures({
    cpuManagerPolicy,
    enabled: (gate) => {
      const effect = GATE_EFFECTS[gate];
      return effect?.kind === 'fixed' ? effect.is : gates.enabled(gate);
    },
  });
}
