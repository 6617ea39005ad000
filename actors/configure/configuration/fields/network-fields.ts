import { int32, text, textList, truth } from '../field-kinds.ts';

/** DNS and packet rules. */
export const networkFields = {
  clusterDomain: text(),
  clusterDNS: textList(),
  resolvConf: text('/etc/resolv.conf'),
  podCIDR: text(),
  makeIPTablesUtilChains: truth(true),
  iptablesMasqueradeBit: int32(14),
  iptablesDropBit: int32(15),
};
