import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIELD_EFFECTS } from '../../../actors/configure/configuration/effects/field-effects.ts';
import { fixedGates, GATE_EFFECTS } from '../../../actors/configure/configuration/effects/gate-effects.ts';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { withFolder, writeConfig } from './reference-data.ts';

const fixed = Object.entries(GATE_EFFECTS).filter(([, effect]) => effect.kind === 'fixed');

function warningsOf(body: string): string[] {
  return withFolder((folder) => {
    const configFile = writeConfig(folder, 'config.yaml', body);
    return loadConfiguration({ configFile, flags: [], cgroupVersion: 2 }).warnings.map((text) =>
      text.replace(configFile, 'FILE'),
    );
  });
}

test('no field is left that is not built', () => {
  const kinds = new Set(Object.values(FIELD_EFFECTS).map(({ kind }) => kind));
  assert.deepEqual([...kinds].sort(), ['acts', 'kubelet', 'moot']);
});

test('what acts, and what has no effect in kubelet either, is not told of', () => {
  assert.deepEqual(
    warningsOf('maxPods: 5\nvolumePluginDir: /flex\nhairpinMode: none\ncontentType: application/json\n'),
    [],
  );
});

test('a gate is told of when it asks for what cannot be', () => {
  assert.ok(fixed.length > 10);
  for (const [gate, effect] of fixed) {
    assert.ok(effect.kind === 'fixed');
    assert.deepEqual(fixedGates({ [gate]: effect.is }), []);
    assert.match(
      fixedGates({ [gate]: !effect.is })[0] ?? '',
      new RegExp(`${gate}=${!effect.is} is accepted; here it is`),
    );
  }
  assert.match(
    warningsOf('featureGates: {ClientsAllowCBOR: true}\n').at(-1) ?? '',
    /^Feature gate ClientsAllowCBOR=true is accepted; here it is always false/,
  );
});
