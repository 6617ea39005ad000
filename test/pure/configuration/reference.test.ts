import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  type JsonObject,
  kubeletConfigurationSchema,
  toVersioned,
} from '../../../actors/configure/configuration/kubelet-configuration.ts';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { ConfigurationInvalid } from '../../../actors/configure/configuration/problems.ts';
import { referenceData, withFolder, withoutEmpty, writeConfig } from './reference-data.ts';

interface Sample {
  name: string;
  yaml: string;
  valid: boolean;
  config?: JsonObject;
  error?: string;
}

/** Paths of all fields of a schema, list items as `[]`. */
function schemaPaths(schema: unknown, prefix: string): string[] {
  const def = Reflect.get(Object(schema), 'def') as Record<string, unknown>;
  if (def.innerType !== undefined) return schemaPaths(def.innerType, prefix);
  if (def.type === 'array') return schemaPaths(def.element, `${prefix}[]`);
  if (def.type !== 'object') return [];
  return Object.entries(def.shape as Record<string, unknown>).flatMap(([name, field]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    return [path, ...schemaPaths(field, path)];
  });
}

test('the schema has exactly the fields of the Go type', () => {
  const wanted = (referenceData('fields') as { path: string }[]).map((field) => field.path).sort();
  assert.ok(wanted.length > 150);
  assert.deepEqual(schemaPaths(kubeletConfigurationSchema, '').sort(), wanted);
});

test('defaults with a file are those of kubelet', () => {
  const { file } = referenceData('defaults') as { file: JsonObject };
  withFolder((folder) => {
    const configFile = writeConfig(folder, 'config.yaml', '');
    const { config } = loadConfiguration({ configFile, cgroupVersion: 2 });
    assert.deepEqual(
      withoutEmpty(toVersioned(config)),
      withoutEmpty({ ...file, apiVersion: config.apiVersion, kind: config.kind }),
    );
  });
});

test('defaults without a file are those of the flags', () => {
  const { flags } = referenceData('defaults') as { flags: JsonObject };
  const { config } = loadConfiguration({ cgroupVersion: 2 });
  assert.deepEqual(withoutEmpty(toVersioned(config)), withoutEmpty(flags));
  assert.equal(config.readOnlyPort, 10255);
  assert.deepEqual(config.evictionHard, {});
});

const samples = referenceData('samples') as Sample[];
for (const sample of samples) {
  test(`sample ${sample.name}: ${sample.valid ? 'accepted' : 'refused, or decoded leniently,'} as by kubelet`, () => {
    withFolder((folder) => {
      const configFile = join(folder, 'config.yaml');
      writeFileSync(configFile, sample.yaml);
      const load = () => loadConfiguration({ configFile, cgroupVersion: 1 });
      if (sample.config !== undefined) {
        const { config } = load();
        assert.deepEqual(
          withoutEmpty({ ...toVersioned(config), apiVersion: '', kind: '' }),
          withoutEmpty(sample.config),
        );
        return;
      }
      // The program that wrote the samples decoded strictly only; kubelet then decodes leniently, with a warning.
      if (/^strict decoding error/.test(sample.error ?? '')) {
        assert.match(load().warnings.join('\n'), /^Using lenient decoding as strict decoding failed: /m);
        return;
      }
      assert.throws(load, (error) => {
        assert.ok(error instanceof ConfigurationInvalid, String(error));
        for (const one of error.errors) assert.match(one.message, /^CFG\d{3}: /);
        return true;
      });
    });
  });
}

test('the samples cover both verdicts', () => {
  assert.ok(samples.filter((sample) => sample.valid).length > 20);
  assert.ok(samples.filter((sample) => !sample.valid).length > 70);
});
