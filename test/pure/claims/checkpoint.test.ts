/** `dra_manager_state` is kubelet's own (vectors: test/tools/claim-checkpoint-vectors). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { claimCheckpointText, readClaimCheckpoint } from '../../../machines/claims/claim-checkpoint.ts';

interface Vector {
  claims: { ClaimUID: string; PodUIDs: object; DriverState: Record<string, { Devices: object[] | null }> }[] | null;
  text: string;
}

const vectors = JSON.parse(readFileSync(new URL('checkpoint-vectors.json', import.meta.url), 'utf8')) as Vector[];

test('what kubelet wrote is written again byte for byte', () => {
  assert.ok(vectors.length > 20);
  assert.equal(claimCheckpointText(null), vectors[0]?.text);
  for (const { claims, text } of vectors)
    if (claims !== null) assert.equal(claimCheckpointText(readClaimCheckpoint(text)), text);
});

test("kubelet's file is read", () => {
  for (const { claims, text } of vectors) {
    const found = readClaimCheckpoint(text);
    assert.deepEqual(
      found.map(({ uid, pods, prepared }) => ({ uid, pods, prepared })),
      (claims ?? []).map(({ ClaimUID, PodUIDs }) => ({ uid: ClaimUID, pods: Object.keys(PodUIDs), prepared: false })),
    );
    for (const [at, { drivers }] of found.entries())
      for (const [name, devices] of Object.entries(drivers))
        assert.equal(devices.length, claims?.[at]?.DriverState[name]?.Devices?.length ?? 0);
  }
});

test('a damaged file is told as kubelet tells it', () => {
  const text = vectors.find(({ claims }) => (claims?.length ?? 0) > 1)?.text ?? '';
  assert.throws(() => readClaimCheckpoint(text.replace('claim-0', 'claim-9')), { message: 'checkpoint is corrupted' });
  assert.throws(() => readClaimCheckpoint(text.slice(0, -5)), { message: 'unexpected end of JSON input' });
  assert.throws(() => readClaimCheckpoint('{"Data":null,"Checksum":1}'), /cannot unmarshal/);
  assert.throws(() => readClaimCheckpoint('x'), /invalid character 'x' looking for beginning of value/);
});
