import type { EffectCatalog, EffectType } from '../../../machines/protocol/effects.ts';
import type { HostSettings } from '../../host/files/host-settings.ts';
import { grpcHealth } from './grpc-health.ts';
import { httpGet } from './http-get.ts';
import { tcpConnect } from './tcp-connect.ts';

/** Effects over the network: probes and hooks. */
export type NetEffectType = Extract<EffectType, `net.${string}`>;

/** Who carries out each `net.*` effect. A rejection is a HostFailure whose message is the kubelet's event text. */
export const netEffects: {
  readonly [T in NetEffectType]: (
    params: EffectCatalog[T]['params'],
    settings: HostSettings,
  ) => Promise<EffectCatalog[T]['result']>;
} = {
  'net.HttpGet': httpGet,
  'net.TcpConnect': tcpConnect,
  'net.GrpcHealth': grpcHealth,
};
