import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, it } from 'node:test';
import { FIELD_EFFECTS } from '../../../actors/configure/configuration/effects/field-effects.ts';
import { GATE_EFFECTS, gatesOfOthers } from '../../../actors/configure/configuration/effects/gate-effects.ts';
import { FEATURE_GATES } from '../../../actors/configure/configuration/feature-gate-table.ts';
import { withTables } from '../../../bin/commands/configuration-doc.ts';
import { ALL_FLAGS } from '../../../bin/flags/all-flags.ts';
import { findReaders, type Readers } from './field-readers.ts';

const checkout = join(import.meta.dirname, '..', '..', '..');

/** Fields that are read otherwise than by their name: by whom. */
const READ_OTHERWISE: Readonly<Record<string, string>> = {
  apiVersion: 'readConfigFile, in the raw document',
  kind: 'readConfigFile, in the raw document',
  shutdownGracePeriod: 'shutdownGroups, which is pure and has a type of its own for them',
  shutdownGracePeriodCriticalPods: 'shutdownGroups',
  shutdownGracePeriodByPodPriority: 'shutdownGroups',
};

/** Members of KubeletFlags and ActorletSettings that the flags without a field end in. */
const SETTING_OF: Readonly<Record<string, string>> = {
  'node-ip': 'nodeIPs',
  journal: 'journalDir',
  'wait-for-plugins': 'waitForPluginsMs',
};

describe('what fields, flags and gates bring about', () => {
  let readers: Readers;
  before(() => {
    const files = globSync(['actors/**/*.ts', 'bin/**/*.ts', 'cri/**/*.ts', 'machines/**/*.ts'], { cwd: checkout });
    readers = findReaders(
      checkout,
      files.filter((file) => !file.includes('inspector-page')),
    );
  });

  it('is declared of each field of kubelet, and of no other', () => {
    const paths = (
      JSON.parse(readFileSync(join(checkout, 'test/pure/configuration/data/fields-v1.35.4.json'), 'utf8')) as {
        path: string;
      }[]
    ).map((field) => field.path);
    // A list or a map of lists counts as one field, a group as its members.
    const leaves = paths.filter((path) => !path.includes('[]') && !paths.some((other) => other.startsWith(`${path}.`)));
    assert.ok(leaves.length > 130);
    assert.deepEqual(Object.keys(FIELD_EFFECTS).sort(), leaves.sort());
  });

  it('is read by somebody where a field is said to act, and by nobody where it is said not to', () => {
    for (const [field, effect] of Object.entries(FIELD_EFFECTS)) {
      const places =
        readers.fields.get(field) ?? readers.fields.get(field.replace(/^logging\.options\.(text|json)\./, ''));
      if (effect.kind === 'acts') {
        assert.ok(places !== undefined || field in READ_OTHERWISE, `${field} acts, but no code reads it`);
      } else assert.equal(places, undefined, `${field} is said to have no effect (${effect.why}), but it is read`);
    }
  });

  it('holds for flags: as their fields, or with a reader of their own', () => {
    const options = readFileSync(join(checkout, 'bin/flags/daemon-options.ts'), 'utf8');
    for (const { name, field, moot } of ALL_FLAGS) {
      if (field !== undefined || moot !== undefined) continue;
      assert.ok(options.includes(`'${name}'`), `nobody takes --${name}`);
      const member = SETTING_OF[name] ?? camel(name);
      const found = [...readers.fields.keys()].some((path) => path === (member === 'config' ? 'configFile' : member));
      assert.ok(found, `--${name} ends in ${member}, which nobody reads`);
    }
  });

  it('holds for gates: asked for somewhere when they act, and nowhere else', () => {
    for (const [gate, effect] of Object.entries(GATE_EFFECTS)) {
      assert.ok(FEATURE_GATES[gate] !== undefined && !FEATURE_GATES[gate][2], `${gate} cannot be switched`);
      if (['AllAlpha', 'AllBeta'].includes(gate)) continue;
      assert.equal(readers.gates.has(gate), effect.kind === 'acts', `${gate}: ${readers.gates.get(gate)?.join(', ')}`);
      // A gate that nobody sets must not be said to be the other way round.
      if (effect.kind === 'fixed') assert.equal(effect.is, FEATURE_GATES[gate][1], gate);
    }
    assert.deepEqual(
      [...readers.gates.keys()].filter((gate) => FEATURE_GATES[gate]?.[2] === false && !(gate in GATE_EFFECTS)),
      [],
      'gates that are asked for and not declared',
    );
    assert.ok(gatesOfOthers().includes('HPAScaleToZero'));
  });

  it('is what docs/configuration.md says (npm run -s configuration-doc)', () => {
    const document = readFileSync(join(checkout, 'docs/configuration.md'), 'utf8');
    assert.equal(withTables(document), document);
  });

  it('finds a reader through other types, and none in a check or in an assignment', () => {
    const file = join(checkout, 'actors/planted.ts');
    const text = `
      import type { KubeletConfiguration } from './configure/configuration/kubelet-configuration.ts';
      interface Part { qosReserved: Record<string, string>; hairpinMode: string }
      const through = (part: Part) => part.qosReserved;
      export function planted(config: KubeletConfiguration) {
        config.runOnce = true;
        return [through(config), config.iptablesDropBit];
      }`;
    const planted = findReaders(checkout, ['actors/planted.ts'], (path) => (path === file ? text : undefined)).fields;
    assert.deepEqual([...planted.keys()].sort(), ['iptablesDropBit', 'qosReserved']);
  });
});

function camel(name: string): string {
  return name.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
}
