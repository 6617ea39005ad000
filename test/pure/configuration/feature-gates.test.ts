import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FEATURE_GATES, GATE_DEPENDENCIES } from '../../../actors/configure/configuration/feature-gate-table.ts';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';

test('the table holds what a kubelet v1.35.4 knows', () => {
  const stages = Object.values(FEATURE_GATES).map(([stage]) => stage);
  assert.deepEqual(
    ['ALPHA', 'BETA', 'GA', 'DEPRECATED'].map((stage) => stages.filter((one) => one === stage).length),
    [54, 87, 62, 15],
  );
  for (const name of Object.keys(GATE_DEPENDENCIES)) assert.ok(name in FEATURE_GATES, name);
});

test('defaults, AllAlpha, AllBeta, and a gate that is named itself', () => {
  assert.equal(resolveFeatureGates({}).gates.enabled('EventedPLEG'), false);
  assert.equal(resolveFeatureGates({ AllAlpha: true }).gates.enabled('EventedPLEG'), true);
  assert.equal(resolveFeatureGates({ AllAlpha: true, EventedPLEG: false }).gates.enabled('EventedPLEG'), false);
  assert.equal(resolveFeatureGates({}).gates.enabled('KubeletCrashLoopBackOffMax'), true);
  assert.equal(resolveFeatureGates({ AllBeta: false }).gates.enabled('KubeletCrashLoopBackOffMax'), false);
  assert.equal(resolveFeatureGates({}).gates.enabled('NoSuchGate'), false);
});

test('unknown, locked and dependent gates are errors', () => {
  const codes = (wanted: Record<string, boolean>) => resolveFeatureGates(wanted).errors.map((error) => error.code);
  assert.deepEqual(codes({ EventedPlegg: true, SidecarContainers: false }), ['CFG007', 'CFG008']);
  assert.match(resolveFeatureGates({ eventedpleg: true }).errors[0]?.message ?? '', /Did you mean EventedPLEG\?/);
  assert.deepEqual(codes({ ClusterTrustBundleProjection: true, ClusterTrustBundle: false }), ['CFG009']);
  assert.deepEqual(codes({ SidecarContainers: true }), []);
});

test('GA and deprecated gates give kubelet’s warning', () => {
  assert.deepEqual(resolveFeatureGates({ SidecarContainers: true }).warnings, [
    'Setting GA feature gate SidecarContainers=true. It will be removed in a future release.',
  ]);
});
