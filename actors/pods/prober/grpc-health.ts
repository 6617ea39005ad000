import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { Client, Metadata, credentials, status as grpcStatus } from '@grpc/grpc-js';
import type { ServiceError } from '@grpc/grpc-js';
import { isIP } from 'node:net';
import type { EffectCatalog } from '../../../machines/protocol/effects.ts';
import { goDuration } from '../../../machines/values/go-duration.ts';
import { hostPort } from '../../../machines/values/host-port.ts';
import { HostFailure } from '../../host/files/host-failure.ts';
import type { HostSettings } from '../../host/files/host-settings.ts';
import { USER_AGENT } from './request-head.ts';

/** `grpc.health.v1.HealthCheckResponse.ServingStatus` by number. */
const SERVING_STATUS = ['UNKNOWN', 'SERVING', 'NOT_SERVING', 'SERVICE_UNKNOWN'];

const CHANNEL_OPTIONS = {
  'grpc.primary_user_agent': USER_AGENT,
  'grpc.enable_http_proxy': 0,
  'grpc.service_config_disable_resolution': 1,
  // A subchannel of the global pool would outlive the probe.
  'grpc.use_local_subchannel_pool': 1,
};

/**
 * `net.GrpcHealth`: one `grpc.health.v1.Health/Check` over an own plaintext connection; any serving status is a
 * result, what is not an answer is an error with the text of the kubelet's event.
 *
 * @throws HostFailure `DeadlineExceeded` (also when nothing listens: connecting is tried until the time is over),
 *   `Unimplemented`, or another gRPC status name
 */
export async function grpcHealth(
  params: EffectCatalog['net.GrpcHealth']['params'],
  _settings: HostSettings,
): Promise<EffectCatalog['net.GrpcHealth']['result']> {
  const { host, port, service, timeoutMs } = params;
  const address = hostPort(host, port);
  const scheme = { 0: 'dns', 4: 'ipv4', 6: 'ipv6' }[isIP(host)] ?? 'dns';
  const deadline = Date.now() + timeoutMs;
  const client = new Client(`${scheme}:${address}`, credentials.createInsecure(), CHANNEL_OPTIONS);
  try {
    await connected(client, deadline, address, timeoutMs);
    return { status: await check(client, service, deadline, timeoutMs) };
  } finally {
    client.close();
  }
}

function connected(client: Client, deadline: number, address: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    client.waitForReady(deadline, (error) => {
      if (error === undefined) return resolve();
      const text = `timeout: failed to connect service "${address}" within ${goDuration(timeoutMs)}: context deadline exceeded`;
      reject(new HostFailure('DeadlineExceeded', text, { cause: error }));
    });
  });
}

function check(client: Client, service: string, deadline: number, timeoutMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    client.makeUnaryRequest(
      '/grpc.health.v1.Health/Check',
      encodeRequest,
      decodeStatus,
      service,
      new Metadata(),
      { deadline },
      (error, serving) => {
        if (error !== null) return reject(explain(error, timeoutMs));
        resolve(SERVING_STATUS[serving ?? 0] ?? String(serving));
      },
    );
  });
}

function explain(error: ServiceError, timeoutMs: number): HostFailure {
  const name = statusName(error.code);
  const text =
    error.code === grpcStatus.UNIMPLEMENTED
      ? `error: this server does not implement the grpc health protocol (grpc.health.v1.Health): ${error.details}`
      : error.code === grpcStatus.DEADLINE_EXCEEDED
        ? `timeout: health rpc did not complete within ${goDuration(timeoutMs)}`
        : `error: health rpc probe failed: rpc error: code = ${name} desc = ${error.details}`;
  return new HostFailure(name, text, { cause: error });
}

/** `DEADLINE_EXCEEDED` -> `DeadlineExceeded`, as Go and our messages spell it. */
function statusName(code: grpcStatus): string {
  const words = (grpcStatus[code] ?? 'UNKNOWN').toLowerCase().split('_');
  const name = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('');
  return name === 'Cancelled' ? 'Canceled' : name;
}

/** `HealthCheckRequest { string service = 1 }`. Two fields in all, so they are written by hand. */
function encodeRequest(service: string): Buffer {
  const writer = new BinaryWriter();
  if (service !== '') writer.uint32(10).string(service);
  return Buffer.from(writer.finish());
}

/** `HealthCheckResponse { ServingStatus status = 1 }`; unknown fields are passed over. */
function decodeStatus(bytes: Buffer): number {
  const reader = new BinaryReader(bytes);
  let serving = 0;
  while (reader.pos < reader.len) {
    const [field, wire] = reader.tag();
    if (field === 1) serving = reader.int32();
    else reader.skip(wire);
  }
  return serving;
}
