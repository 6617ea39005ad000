import type { Logger } from 'pino';
import { canonicalIp } from './canonical-ip.ts';

/** The entries of `clusterDNS` that are addresses, as pods are told them. Others are left out with a word in the log, as by kubelet. */
export function validClusterDns(entries: readonly string[], log: Pick<Logger, 'info'>): string[] {
  return entries.flatMap((IP) => {
    const ip = canonicalIp(IP);
    if (ip === undefined) log.info({ IP }, 'Invalid clusterDNS IP');
    return ip ?? [];
  });
}
