import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CheckpointError } from '../../../machines/values/checkpoint-error.ts';
import { cpuCheckpointText, readCpuCheckpoint } from '../../../machines/resource-managers/cpu/cpu-checkpoint.ts';
import {
  memoryCheckpointText,
  readMemoryCheckpoint,
} from '../../../machines/resource-managers/memory/memory-checkpoint.ts';
import { drawnCases } from './drawn-case.ts';

const FILES = drawnCases().flatMap(({ files }) => (files === undefined ? [] : [files]));

test("kubelet's own checkpoints are read, and written as it wrote them", () => {
  assert.ok(FILES.length > 100, String(FILES.length));
  for (const [cpu, memory] of FILES) {
    const policy = cpu.includes('"policyName":"static"') ? 'static' : 'none';
    const cpus = readCpuCheckpoint(cpu, policy);
    assert.equal(cpuCheckpointText(policy === 'none' ? null : cpus), cpu);
    const kind = memory.includes('"policyName":"Static"') ? 'Static' : 'None';
    assert.equal(memoryCheckpointText(readMemoryCheckpoint(memory, kind)), memory);
  }
});

test('a broken checkpoint is told as kubelet tells it', () => {
  const [cpu = '', memory = ''] = FILES.find(([one, two]) => one.includes('entries') && two.includes('entries')) ?? [];
  const says = (message: string) => (error: unknown) => error instanceof CheckpointError && error.message === message;
  assert.throws(() => readCpuCheckpoint('', 'static'), says('unexpected end of JSON input'));
  assert.throws(() => readCpuCheckpoint(cpu.replace('static', 'statik'), 'static'), says('checkpoint is corrupted'));
  assert.throws(
    () => readCpuCheckpoint(cpu, 'none'),
    says('configured policy "none" differs from state checkpoint policy "static"'),
  );
  assert.throws(
    () => readCpuCheckpoint('{"policyName":"static","defaultCpuSet":"1-x","checksum":0}', 'static'),
    says('could not parse default cpu set "1-x": strconv.Atoi: parsing "x": invalid syntax'),
  );
  assert.throws(
    () => readMemoryCheckpoint(memory, 'None'),
    says('[memorymanager] configured policy "None" differs from state checkpoint policy "Static"'),
  );
  assert.throws(() => readMemoryCheckpoint(memory.slice(0, -1), 'Static'), CheckpointError);
});
