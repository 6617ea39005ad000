import { connect } from 'node:net';
import type { EffectCatalog, EffectType, Empty } from '../../../machines/protocol/effects.ts';
import { hostPort } from '../../../machines/values/host-port.ts';
import type { HostSettings } from '../../host/files/host-settings.ts';
import { HostFailure, codeOf } from '../../host/files/host-failure.ts';
import { grpcHealth } from './grpc-health.ts';
import { httpGet } from './http-get.ts';
import { nameLookup } from './look-up.ts';
import { dialText } from './net-failure.ts';

/**
 * `net.TcpConnect`: opens a connection and closes it again.
 *
 * @throws HostFailure `DeadlineExceeded` (`dial tcp A: i/o timeout`) or the errno, in the kubelet's words
 */
function tcpConnect(params: EffectCatalog['net.TcpConnect']['params'], _settings: HostSettings): Promise<Empty> {
  const { host, port, timeoutMs } = params;
  const address = hostPort(host, port);
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, lookup: nameLookup() });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new HostFailure('DeadlineExceeded', `dial tcp ${address}: i/o timeout`));
    }, timeoutMs);
    socket.once('connect', () => {
      clearTimeout(timer);
      // Reset instead of FIN: a node that probes each second must not collect sockets in TIME_WAIT.
      socket.resetAndDestroy();
      resolve({});
    });
    socket.once('error', (error) => {
      clearTimeout(timer);
      reject(new HostFailure(codeOf(error) || 'Unknown', dialText(address, error), { cause: error }));
    });
  });
}

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
