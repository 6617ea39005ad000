import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Server, ServerCredentials, status } from '@grpc/grpc-js';
import type { sendUnaryData, ServerUnaryCall } from '@grpc/grpc-js';
import { pino } from 'pino';
import type { HostSettings } from '../../../actors/host/files/host-settings.ts';
import { netEffects } from '../../../actors/pods/prober/net-effects.ts';

const settings: HostSettings = {
  rootDir: '/nowhere',
  podLogsDir: '/nowhere',
  containerLogsDir: '/nowhere',
  cgroupVersion: 1,
  cgroupDriver: 'cgroupfs',
  log: pino({ level: 'silent' }),
};

type Answer = (service: string, call: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>) => void;

/** A server on raw bytes, so that the client's own encoding is what is checked. */
async function withServer(answer: Answer | null, use: (port: number) => Promise<void>): Promise<void> {
  const server = new Server();
  const identity = (bytes: Buffer) => bytes;
  const definition = {
    Check: {
      path: '/grpc.health.v1.Health/Check',
      requestStream: false,
      responseStream: false,
      requestSerialize: identity,
      requestDeserialize: identity,
      responseSerialize: identity,
      responseDeserialize: identity,
    },
  };
  if (answer !== null) {
    server.addService(definition, {
      Check: (call: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Buffer>) =>
        answer(call.request.subarray(2).toString(), call, reply),
    });
  }
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    ),
  );
  try {
    await use(port);
  } finally {
    server.forceShutdown();
  }
}

const probe = (port: number, service = '', timeoutMs = 5000) =>
  netEffects['net.GrpcHealth']({ host: '127.0.0.1', port, service, timeoutMs }, settings);

test('statuses by name, the service and the user agent go over', async () => {
  const agents = new Set<string>();
  const byService: Record<string, number[]> = { '': [8, 1], down: [8, 2], strange: [18, 1, 120, 8, 3], none: [] };
  const answer: Answer = (service, call, reply) => {
    agents.add(String(call.metadata.get('user-agent')[0]));
    reply(null, Buffer.from(byService[service] ?? []));
  };
  await withServer(answer, async (port) => {
    assert.deepEqual(await probe(port), { status: 'SERVING' });
    assert.deepEqual(await probe(port, 'down'), { status: 'NOT_SERVING' });
    assert.deepEqual(await probe(port, 'strange'), { status: 'SERVICE_UNKNOWN' });
    assert.deepEqual(await probe(port, 'none'), { status: 'UNKNOWN' });
  });
  assert.match([...agents].join(), /^kube-probe\/1\.35/);
});

test('no health service, an error, no answer, nobody there', async () => {
  await withServer(null, (port) =>
    assert.rejects(probe(port), {
      code: 'Unimplemented',
      message: /^error: this server does not implement the grpc health protocol \(grpc\.health\.v1\.Health\): /,
    }),
  );
  const unknown: Answer = (_service, _call, reply) => reply({ code: status.NOT_FOUND, details: 'unknown service' });
  await withServer(unknown, (port) =>
    assert.rejects(probe(port, 'x'), {
      code: 'NotFound',
      message: 'error: health rpc probe failed: rpc error: code = NotFound desc = unknown service',
    }),
  );
  let closed = 0;
  await withServer(
    () => undefined,
    async (port) => {
      closed = port;
      await assert.rejects(probe(port, '', 300), {
        code: 'DeadlineExceeded',
        message: 'timeout: health rpc did not complete within 300ms',
      });
    },
  );
  await assert.rejects(probe(closed, '', 300), {
    code: 'DeadlineExceeded',
    message: `timeout: failed to connect service "127.0.0.1:${closed}" within 300ms: context deadline exceeded`,
  });
});
