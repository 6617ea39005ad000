/** How devices of plugins and of drivers are, as it is told in the status of their pods. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { claimHealth, HEALTH_TIMEOUT_MS } from '../../../machines/claims/claim-health.ts';
import { stepClaims } from '../../../machines/claims/claim-machine.ts';
import type { ClaimMessage } from '../../../machines/claims/claim-messages.ts';
import { NO_CLAIMS } from '../../../machines/claims/claim-state.ts';
import type { ClaimDevice, ClaimState } from '../../../machines/claims/claim-state.ts';
import { healthCheckpointText, readHealthCheckpoint } from '../../../machines/claims/health-checkpoint.ts';
import { deviceHealth } from '../../../machines/devices/device-health.ts';
import { NO_DEVICES } from '../../../machines/devices/device-state.ts';
import type { DeviceState } from '../../../machines/devices/device-state.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { joinedHealth } from '../../../machines/protocol/resource-health.ts';
import { uidTable } from '../../../machines/supervisor/uid-table.ts';

const GPU = 'example.com/gpu';
const response = { envs: {}, mounts: [], devices: [], annotations: {}, cdiDevices: [] };

function devices(resource: Partial<DeviceState['resources'][string]>): DeviceState {
  const ids = { '1': ['b', 'a'], '0': ['c', 'a'] };
  const all = { a: { healthy: true, nodes: [] }, b: { healthy: false, nodes: [] } };
  const plugin = { preStart: false, prefers: false };
  return {
    ...NO_DEVICES,
    resources: { [GPU]: { devices: all, plugin, told: true, stoppedAt: null, ...resource } },
    grants: uidTable([['u', { c: { [GPU]: { ids, response } } }]]),
  };
}

const healthOf = (state: DeviceState): string =>
  (deviceHealth(state, 'u')['c'] ?? [])
    .flatMap(({ name, resources }) => resources.map((one) => `${name} ${one.resourceID} ${one.health}`))
    .join('; ');

test("a plugin's word counts for what it lists, each device once; without its word nothing is known", () => {
  assert.equal(healthOf(devices({})), `${GPU} a Healthy; ${GPU} b Unhealthy; ${GPU} c Unknown`);
  const unknown = `${GPU} a Unknown; ${GPU} b Unknown; ${GPU} c Unknown`;
  assert.equal(healthOf(devices({ told: false, plugin: null })), unknown);
  assert.equal(healthOf(devices({ devices: null, told: false, plugin: null })), unknown);
  assert.deepEqual(deviceHealth(devices({}), 'another'), {});
});

const device = (name: string, more: Partial<ClaimDevice> = {}): ClaimDevice => ({
  ...{ pool: 'p', device: name, share: null, requests: [], cdi: [`cdi/${name}`] },
  ...more,
});
const prepared = (claims: Record<string, ClaimDevice[]>): ClaimState => ({
  ...NO_CLAIMS,
  claims: Object.fromEntries(
    Object.entries(claims).map(([name, of]) => [
      `ns/${name}`,
      { uid: name, name, namespace: 'ns', pods: ['u'], drivers: { drv: of }, prepared: true },
    ]),
  ),
});
const pod = (claims: { name: string; request?: string }[]): Pod => ({
  metadata: { uid: 'u', name: 'p', namespace: 'ns' },
  spec: {
    containers: [
      { name: 'c', resources: { claims } },
      { name: 'without', image: 'i' },
    ],
    resourceClaims: [
      { name: 'made', resourceClaimTemplateName: 't' },
      { name: 'own', resourceClaimName: 'direct' },
    ],
  },
  status: { resourceClaimStatuses: [{ name: 'made', resourceClaimName: 'made-x' }] },
});
const step = (state: ClaimState, ...messages: ClaimMessage[]) => {
  const orders: string[] = [];
  let at = state;
  for (const message of messages) {
    const next = stepClaims(at, message);
    at = next.state;
    orders.push(...next.outputs.map(({ type }) => type));
  }
  return { state: at, orders };
};
const told = (steady: number, health: Record<string, 'Healthy' | 'Unhealthy' | 'Unknown'>, timeoutMs = 10_000) =>
  ({
    type: 'health.told',
    ...{ at: 1_000_000 + steady, steady, driver: 'drv' },
    devices: Object.entries(health).map(([name, is]) => ({ pool: 'p', device: name, health: is, timeoutMs })),
  }) as const;
const rows = (state: ClaimState, of: Pod): string[] =>
  (claimHealth(state, of)['c'] ?? []).map(
    ({ name, resources }) => `${name}: ${resources.map((one) => `${one.resourceID} ${one.health}`).join(', ')}`,
  );

test('claims that a container names have a row each, by request when it names one', () => {
  const state = prepared({
    'made-x': [device('a', { requests: ['r'] }), device('b', { requests: ['s'], cdi: [] })],
    direct: [device('d'), device('e', { cdi: ['cdi/d'] })],
  });
  const { state: known } = step(state, told(0, { a: 'Healthy', b: 'Unhealthy', e: 'Healthy' }));
  assert.deepEqual(
    rows(known, pod([{ name: 'made', request: 'r' }, { name: 'made', request: 's' }, { name: 'own' }])),
    [
      'claim:made/r: cdi/a Healthy',
      'claim:made/s: drv/p/b Unhealthy',
      // Two devices of one name: the API takes a name once.
      'claim:own: cdi/d Unknown, drv/p/e Healthy',
    ],
  );
  assert.deepEqual(Object.keys(claimHealth(known, pod([{ name: 'made' }]))), ['c']);
  assert.deepEqual(claimHealth(NO_CLAIMS, pod([{ name: 'made' }])), {});
});

test('a word holds for its time, is written down when it is another one, and goes with its driver', () => {
  const state = prepared({ 'made-x': [device('a')] });
  const of = pod([{ name: 'made' }]);
  const first = step(state, told(0, { a: 'Healthy' }));
  assert.deepEqual(first.orders, ['health.write']);
  const again = step(first.state, told(8_000, { a: 'Healthy' }), { type: 'health.due', at: 0, steady: 18_000 });
  assert.deepEqual([again.orders, rows(again.state, of)], [[], ['claim:made: cdi/a Healthy']]);
  const late = step(again.state, { type: 'health.due', at: 0, steady: 18_001 });
  assert.deepEqual([late.orders, rows(late.state, of)], [['health.write'], ['claim:made: cdi/a Unknown']]);
  assert.deepEqual(step(late.state, { type: 'health.due', at: 0, steady: 99_000 }).orders, []);
  // One that the driver leaves out is known until its time is over.
  const other = step(first.state, told(9_000, { b: 'Unhealthy' }));
  assert.deepEqual(rows(other.state, of), ['claim:made: cdi/a Healthy']);
  assert.deepEqual(rows(step(other.state, told(10_001, { b: 'Unhealthy' })).state, of), ['claim:made: cdi/a Unknown']);
  const lost = step(first.state, { type: 'health.lost', at: 0, driver: 'drv' });
  assert.deepEqual([lost.orders, rows(lost.state, of)], [['health.write'], ['claim:made: cdi/a Unknown']]);
  assert.deepEqual(step(lost.state, { type: 'health.lost', at: 0, driver: 'drv' }).orders, []);
});

test("kubelet's dra_health_state is read and written; what is in it holds for the rest of its time", () => {
  const { state } = step(NO_CLAIMS, told(0, { a: 'Healthy', b: 'Unhealthy' }));
  const text = healthCheckpointText(state.health ?? {});
  const entry = (name: string, health: string): string =>
    `"p/${name}":{"PoolName":"p","DeviceName":"${name}","Health":"${health}","LastUpdated":"1970-01-01T00:16:40.000Z","HealthCheckTimeout":10000000000}`;
  assert.equal(text, `{"drv":{"Devices":{${entry('a', 'Healthy')},${entry('b', 'Unhealthy')}}}}`);
  const now = { at: 1_004_000, steady: 500 };
  assert.deepEqual(readHealthCheckpoint(text, now)['drv']?.['p/a'], {
    ...{ pool: 'p', device: 'a', health: 'Healthy', updatedAt: 1_000_000, timeoutMs: 10_000 },
    until: 500 + 6_000,
  });
  // As Go writes times; a word from a clock that was set back holds for its time and no longer.
  const go =
    '{"drv":{"Devices":{"p/a":{"PoolName":"p","DeviceName":"a","Health":"Odd","LastUpdated":"2030-01-01T01:00:00.123456789+01:00","HealthCheckTimeout":0}}}}';
  const odd = readHealthCheckpoint(go, now)['drv']?.['p/a'];
  assert.deepEqual(
    [odd?.health, odd?.updatedAt, odd?.until],
    ['Unknown', Date.parse('2030-01-01T00:00:00.123Z'), 500 + HEALTH_TIMEOUT_MS],
  );
  assert.deepEqual(readHealthCheckpoint('{"drv":{"Devices":null}}', now), { drv: {} });
  for (const bad of ['', '[]', '{"drv":1}', '{"drv":{"Devices":{"x":{"PoolName":1}}}}'])
    assert.throws(() => readHealthCheckpoint(bad, now), { name: 'Error' });
});

test('rows of plugins come before those of drivers', () => {
  const row = (name: string) => ({ name, resources: [] });
  assert.deepEqual(joinedHealth({ c: [row('x')] }, { b: [row('y')], c: [row('claim:z')] }), {
    b: [row('y')],
    c: [row('x'), row('claim:z')],
  });
});
