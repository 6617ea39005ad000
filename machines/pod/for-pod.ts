import type { Pod } from '../protocol/api-types.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';

/**
 * Remembers what follows from a definition and the node's settings alone: each step asks, and neither is ever changed in
 * place. What is given back is shared and must not be changed either.
 */
export function forPod<T>(make: (pod: Pod, settings: NodeSettings) => T): (pod: Pod, settings: NodeSettings) => T {
  const made = new WeakMap<Pod, { settings: NodeSettings; value: T }>();
  return (pod, settings) => {
    const known = made.get(pod);
    if (known !== undefined && known.settings === settings) return known.value;
    const value = make(pod, settings);
    made.set(pod, { settings, value });
    return value;
  };
}
