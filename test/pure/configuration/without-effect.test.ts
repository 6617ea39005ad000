import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIELD_EFFECTS } from '../../../actors/configure/configuration/effects/field-effects.ts';
import { fixedGates, GATE_EFFECTS } from '../../../actors/configure/configuration/effects/gate-effects.ts';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { withFolder, writeConfig } from './reference-data.ts';

/** The first fields of each kind: what is not built changes as the agent grows. */
const [unbuilt] = Object.entries(FIELD_EFFECTS).filter(([path, { kind }]) => kind === 'unbuilt' && !path.includes('.'));
const fixed = Object.entries(GATE_EFFECTS).filter(([, effect]) => effect.kind === 'fixed');

function warningsOf(body: string, flags: { flag: string; path: string; value: unknown }[] = []): string[] {
  return withFolder((folder) => {
    const configFile = writeConfig(folder, 'config.yaml', body);
    return loadConfiguration({ configFile, flags, cgroupVersion: 2 }).warnings.map((text) =>
      text.replace(configFile, 'FILE'),
    );
  });
}

test('a field that is not built yet is told with the file or flag that sets it', () => {
  assert.ok(unbuilt !== undefined, 'nothing is left to build: this test can go');
  assert.equal(FIELD_EFFECTS.volumePluginDir?.kind, 'unbuilt');
  const told = warningsOf('volumePluginDir: /flex\n');
  assert.equal(told.length, 1, told.join('\n'));
  assert.match(told[0] ?? '', /^FILE: volumePluginDir is accepted; what it asks for is not built yet: FlexVolume/);
  const [byFlag] = warningsOf('', [{ flag: '--volume-plugin-dir', path: 'volumePluginDir', value: '/flex' }]);
  assert.match(byFlag ?? '', /^flag --volume-plugin-dir: volumePluginDir is accepted/);
});

test('what acts, and what has no effect in kubelet either, is not told of', () => {
  assert.deepEqual(warningsOf('maxPods: 5\nhairpinMode: none\ncontentType: application/json\n'), []);
});

test('a gate is told of when it asks for what cannot be', () => {
  assert.ok(fixed.length > 20);
  for (const [gate, effect] of fixed) {
    assert.ok(effect.kind === 'fixed');
    assert.deepEqual(fixedGates({ [gate]: effect.is }), []);
    assert.match(
      fixedGates({ [gate]: !effect.is })[0] ?? '',
      new RegExp(`${gate}=${!effect.is} is accepted; here it is`),
    );
  }
  assert.match(
    warningsOf('featureGates: {GitRepoVolumeDriver: true}\n').at(-1) ?? '',
    /^Feature gate GitRepoVolumeDriver=true is accepted; here it is always false/,
  );
});
