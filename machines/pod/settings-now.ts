import type { NodeSettings } from '../protocol/node-settings.ts';
import type { PodContext } from './pod-context.ts';

/** Made once for each list of addresses that a pod was told: each step asks. */
const MADE = new WeakMap<readonly string[], NodeSettings>();

/** The node's settings with the addresses that its object has by now. */
export function settingsNow({ settings, nodeIPs }: Pick<PodContext, 'settings' | 'nodeIPs'>): NodeSettings {
  if (nodeIPs === undefined) return settings;
  let made = MADE.get(nodeIPs);
  if (made === undefined) MADE.set(nodeIPs, (made = { ...settings, nodeIPs: [...nodeIPs] }));
  return made;
}
