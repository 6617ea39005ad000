/** `kubelet_internal_checkpoint` is kubelet's own (vectors: test/tools/device-checkpoint-vectors). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { deviceCheckpointText, readDeviceCheckpoint } from '../../../machines/devices/device-checkpoint.ts';
import type { DeviceEntry } from '../../../machines/devices/device-checkpoint.ts';

interface Vector {
  entries: DeviceEntry[] | null;
  registered: Record<string, string[]>;
  text: string;
}

const vectors = JSON.parse(readFileSync(new URL('checkpoint-vectors.json', import.meta.url), 'utf8')) as Vector[];

test('what is written is what kubelet writes, checksum included', () => {
  assert.ok(vectors.length > 20);
  for (const { entries, registered, text } of vectors)
    assert.deepEqual(JSON.parse(deviceCheckpointText({ entries: entries ?? [], registered })), JSON.parse(text));
});

test("kubelet's file is read", () => {
  for (const { entries, registered, text } of vectors)
    assert.deepEqual(readDeviceCheckpoint(text), { entries: entries ?? [], registered });
});

test('a damaged file is none', () => {
  const text = vectors.find(({ entries }) => (entries?.length ?? 0) > 1)?.text ?? '';
  assert.equal(readDeviceCheckpoint(text.replace('uid-0', 'uid-9')), null);
  assert.equal(readDeviceCheckpoint(text.slice(0, -5)), null);
  assert.equal(readDeviceCheckpoint('{"Data":null,"Checksum":1}'), null);
  assert.equal(readDeviceCheckpoint('[]'), null);
});
