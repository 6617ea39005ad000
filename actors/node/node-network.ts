import type { Logger } from 'pino';
import type { CriClient } from '../../cri/client/cri-client.ts';
import { UtilChains } from '../host/packet-rules/util-chains.ts';
import type { Part } from './lifecycle.ts';

/** Tells the runtime the addresses for pods that the configuration names; the API server's, if there is one, come later and replace them. */
export async function tellPodCIDR(cri: CriClient, podCidr: string, log: Logger): Promise<void> {
  if (podCidr === '') return;
  try {
    await cri.runtime.updateRuntimeConfig({ runtimeConfig: { networkConfig: { podCidr } } });
    log.info({ originalPodCIDR: '', newPodCIDR: podCidr }, 'Updating Pod CIDR');
  } catch (err) {
    log.error({ err }, 'Pod CIDR update failed');
  }
}

/** The chains of iptables for other components. */
export function utilChains(log: Logger): Part {
  const chains = new UtilChains(log);
  return { name: 'iptables chains', phase: 'work', start: () => chains.start(), stop: () => chains.stop() };
}
