import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { ManagerFiles } from '../../../actors/resources/admission/manager-files.ts';
import { NODE_RESOURCES, nodeResources, resourcesOf } from '../../../machines/admission/node-resources.ts';
import { CPU_CHECKPOINT } from '../../../machines/resource-managers/cpu/cpu-checkpoint.ts';
import { MEMORY_CHECKPOINT } from '../../../machines/resource-managers/memory/memory-checkpoint.ts';
import { resourceRules } from '../../simulation/world/node-settings.ts';
import { container, pod } from '../admission/admission-input.ts';
import { RULES } from '../admission/admission-rules.ts';
import { folder, memoryLog } from '../journal/journal-fixture.ts';

/** A pod was given CPUs while the folder of the checkpoints was away. */
function unwritten(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const rootDir = join(folder(t), 'away');
  const { log, lines } = memoryLog();
  const resources = resourceRules();
  const files = new ManagerFiles(rootDir, resources, log);
  const amounts = { cpu: '2', memory: '64Mi' };
  const spec = { containers: [{ ...container('main'), resources: { requests: amounts, limits: amounts } }] };
  const given = nodeResources.allocate(resourcesOf(files.read()), pod('a', spec), { ...RULES, resources });
  assert.ok('state' in given);
  files.write({ [NODE_RESOURCES]: given.state });
  const errors = () => lines.filter((line) => JSON.stringify(line).includes('NOD006')).length;
  return { files, rootDir, errors };
}

const text = (rootDir: string, name: string): string => readFileSync(join(rootDir, name), 'utf8');

test('checkpoints of CPUs and memory that cannot be written are told once each, and tried again by themselves', (t) => {
  const { rootDir, errors } = unwritten(t);
  t.mock.timers.tick(10_000);
  assert.equal(errors(), 2);
  mkdirSync(rootDir);
  t.mock.timers.tick(9_000);
  assert.throws(() => text(rootDir, CPU_CHECKPOINT));
  t.mock.timers.tick(1_000);
  assert.match(text(rootDir, CPU_CHECKPOINT), /"main":"1,129"/, 'nothing else was given away meanwhile');
  assert.match(text(rootDir, MEMORY_CHECKPOINT), /"main"/);
  assert.equal(errors(), 2);
});

test('an agent that ends tries once more, one that dies does not', (t) => {
  const { files, rootDir } = unwritten(t);
  mkdirSync(rootDir);
  files.close();
  t.mock.timers.tick(60_000);
  assert.throws(() => text(rootDir, CPU_CHECKPOINT));
  files.stop();
  assert.throws(() => text(rootDir, CPU_CHECKPOINT), 'it is dead');
});

test('what still waits is written at an orderly end', (t) => {
  const { files, rootDir } = unwritten(t);
  mkdirSync(rootDir);
  files.stop();
  assert.match(text(rootDir, CPU_CHECKPOINT), /"main":"1,129"/);
});
