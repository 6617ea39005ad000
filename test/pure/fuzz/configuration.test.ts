import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Command } from 'commander';
import fc from 'fast-check';
import { stringify } from 'yaml';
import {
  kubeletConfigurationSchema,
  toVersioned,
} from '../../../actors/configure/configuration/kubelet-configuration.ts';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { ConfigurationInvalid } from '../../../actors/configure/configuration/problems.ts';
import { ALL_FLAGS } from '../../../bin/flags/all-flags.ts';
import { daemonFlags, readDaemonOptions } from '../../../bin/flags/daemon-options.ts';
import { byteChanges, changedBytes } from './support/mutate-bytes.ts';
import { changed, jsonChanges } from './support/mutate-json.ts';
import { deepJson, nastyText } from './support/nasty.ts';
import { fuzz } from './support/runs.ts';

const folder = mkdtempSync(join(tmpdir(), 'actorlet-fuzz-'));
const configFile = join(folder, 'config.yaml');
const dropIns = join(folder, 'd');
const dropIn = join(dropIns, '10.conf');
mkdirSync(dropIns);
after(() => rmSync(folder, { recursive: true, force: true }));

const head = { apiVersion: 'kubelet.config.k8s.io/v1beta1', kind: 'KubeletConfiguration' };
/** Every field there is, with its default or something that is accepted. */
const whole = {
  ...head,
  ...toVersioned(kubeletConfigurationSchema.parse({})),
  staticPodURLHeader: { Accept: ['x'] },
  featureGates: { AllBeta: true, NodeLogQuery: true },
  evictionHard: { 'memory.available': '5%' },
  evictionSoft: { 'nodefs.available': '10Gi' },
  evictionSoftGracePeriod: { 'nodefs.available': '1m' },
  systemReserved: { cpu: '100m', memory: '100Mi' },
  reservedMemory: [{ numaNode: 0, limits: { memory: '100Mi' } }],
  registerWithTaints: [{ key: 'a', value: 'b', effect: 'NoSchedule' }],
  clusterDNS: ['10.0.0.10'],
  tlsCipherSuites: ['TLS_AES_128_GCM_SHA256'],
};

/** Loads, and asks that every error is one of ours and names its file. */
function load(): number {
  try {
    loadConfiguration({ configFile, configDir: dropIns, cgroupVersion: 2 });
    return 0;
  } catch (error) {
    assert.ok(error instanceof ConfigurationInvalid, (error as Error).stack);
    assert.ok(error.errors.length > 0);
    for (const one of error.errors) {
      assert.match(one.message, /^CFG0\d\d: /);
      assert.ok(one.message.includes(folder) || /flags?|default/i.test(one.message), one.message);
      assert.ok(one.message.length < 2_000, `${String(one.message.length)} characters`);
    }
    return error.errors.length;
  }
}

function write(file: string, other: string, text: string | Buffer): void {
  writeFileSync(other, JSON.stringify(head));
  writeFileSync(file, text);
}

const files = fc.constantFrom([configFile, dropIn] as const, [dropIn, configFile] as const);

test('configuration: whatever is in the fields of the file or a drop-in', () => {
  fc.assert(
    fc.property(files, jsonChanges, fc.boolean(), ([file, other], changes, yaml) => {
      const value = changed(whole, changes);
      write(file, other, yaml ? stringify(value) : (JSON.stringify(value) ?? ''));
      load();
    }),
    fuzz(150),
  );
});

test('configuration: whatever the bytes of the file or a drop-in are', () => {
  const text = Buffer.from(stringify(whole));
  fc.assert(
    fc.property(files, byteChanges(Object.keys(whole)), ([file, other], changes) => {
      write(file, other, changedBytes(text, changes));
      load();
    }),
    fuzz(100),
  );
});

/** What once went wrong, and what the error says now. */
const PINNED: Record<string, [text: string, says: RegExp]> = {
  // A RangeError of the parser ended the agent without saying which file it was.
  'lists in lists': [`${JSON.stringify(head).slice(0, -1)},"clusterDNS":${deepJson(20_000)}}`, /CFG002.*nested deeper/],
  // A ReferenceError: "Excessive alias count".
  aliases: [`${stringify(head)}clusterDNS: [&a x${', *a'.repeat(200)}]\n`, /CFG002.*alias/i],
  // It became the prototype of the configuration: unknown fields in it were taken without a word.
  prototype: [`{"__proto__":{"maxPods":1},${JSON.stringify(head).slice(1)}`, /CFG002.*__proto__/],
  // The table of gates was asked for what every object has, and answered with a function.
  'a gate called constructor': [`${stringify(head)}featureGates: {constructor: true}\n`, /CFG007.*constructor/],
};
for (const [name, [text, says]] of Object.entries(PINNED)) {
  test(`configuration: ${name}`, () => {
    for (const [file, other] of [[configFile, dropIn] as const, [dropIn, configFile] as const]) {
      write(file, other, text);
      assert.throws(() => loadConfiguration({ configFile, configDir: dropIns, cgroupVersion: 2 }), says);
      assert.ok(load() > 0);
    }
  });
}

function flags(argv: readonly string[]): ReturnType<typeof readDaemonOptions> {
  const command = new Command('actorlet').exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
  daemonFlags(command);
  command.action(() => undefined);
  command.parse([...argv], { from: 'user' });
  return readDaemonOptions(command);
}

/** True when the flags are refused in words. */
function refused(argv: readonly string[]): boolean {
  let options: ReturnType<typeof readDaemonOptions>;
  try {
    options = flags(argv);
  } catch (error) {
    const ours = error instanceof ConfigurationInvalid;
    const commanders = String((error as { code?: string }).code).startsWith('commander.');
    assert.ok(ours || commanders, (error as Error).stack);
    return true;
  }
  try {
    loadConfiguration({ flags: options.configuration, cgroupVersion: 2 });
  } catch (error) {
    assert.ok(error instanceof ConfigurationInvalid, (error as Error).stack);
    return true;
  }
  return false;
}

const names = ALL_FLAGS.map(({ name }) => name).filter((name) => name !== 'version' && name !== 'help');
const piece = fc.oneof(
  nastyText,
  fc.constantFrom('a=b', '=', ':', 'a:b', ',', 'a=true', '0:memory=1Gi', 'k=v:NoSchedule', '1'),
);
const value = fc.array(piece, { maxLength: 4 }).map((parts) => parts.join(''));
const trap = fc.constantFrom('__proto__', 'constructor', 'toString');
const flag = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(fc.constantFrom(...names), value).map(([name, text]) => `--${name}=${text}`) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(fc.constantFrom(...names), trap, fc.constantFrom('=', ':', '<', ''), value)
      .map(([name, key, between, text]) => `--${name}=${key}${between}${text}`),
  },
  { weight: 1, arbitrary: nastyText.filter((text) => !/^-h|^--h|version/.test(text)) },
);

test('flags: whatever the command line is', () => {
  fc.assert(
    fc.property(fc.array(flag, { minLength: 1, maxLength: 3 }), (argv) => {
      refused(argv);
    }),
    fuzz(150),
  );
});

test('flags: names that every object has', () => {
  // The first two ended the agent with a TypeError; the third set a gate to a function.
  assert.equal(refused(['--manifest-url-header=constructor:x']), false);
  assert.equal(refused(['--manifest-url-header=__proto__:x']), true);
  assert.equal(refused(['--feature-gates=AllAlpha=constructor']), true);
  assert.equal(refused(['--fail-swap-on=toString']), true);
  assert.equal(refused(['--node-labels=__proto__=x']), true);
});
