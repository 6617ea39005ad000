/** Which plugins of type `DRAPlugin` are taken, and what those hear that are not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import { SocketDrivers } from '../../../actors/resources/claims/socket-drivers.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';

test('a plugin that speaks no service of the node, or says none, is refused with the words of kubelet', () => {
  const hears = { told: () => undefined, health: () => undefined, healthLost: () => undefined };
  const drivers = new SocketDrivers({ hears, log: pino({ enabled: false }), metrics: createMetrics() });
  const where = 'invalid supported gRPC versions of DRA driver plugin gpu at endpoint /gpu.sock';
  assert.throws(() => drivers.validate('gpu', [], '/gpu.sock'), {
    message: `${where}: empty list of supported gRPC services (aka supported versions)`,
  });
  const lists = '(["v1alpha3.Node" "x"]) are supported by the kubelet (["v1.DRAPlugin" "v1beta1.DRAPlugin"])';
  assert.throws(() => drivers.validate('gpu', ['v1alpha3.Node', 'x'], '/gpu.sock'), {
    message: `${where}: none of services supported by the plugin ${lists}`,
  });
  drivers.validate('gpu', ['x', 'v1beta1.DRAPlugin'], '/gpu.sock');
});

test('a driver that is not registered is named', async () => {
  const hears = { told: () => undefined, health: () => undefined, healthLost: () => undefined };
  const drivers = new SocketDrivers({ hears, log: pino({ enabled: false }), metrics: createMetrics() });
  await assert.rejects(drivers.prepare('gpu', []), { message: 'DRA driver gpu is not registered' });
  await assert.rejects(drivers.unprepare('', []), { message: 'DRA driver name is empty' });
});
