/** Volumes of clouds become those of CSI drivers as k8s.io/csi-translation-lib makes them (vectors: test/tools/csi-migration-vectors). */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { migratedVolume } from '../../../machines/csi/migration.ts';
import type { Volume } from '../../../machines/protocol/api-types.ts';
import type { PersistentVolume } from '../../../machines/protocol/storage-types.ts';

interface Vector {
  volume?: Volume;
  namespace?: string;
  pv?: PersistentVolume;
  csi?: PersistentVolume & { status?: object };
  error?: string;
}

const vectors = JSON.parse(readFileSync(join(import.meta.dirname, 'migration-vectors.json'), 'utf8')) as Vector[];

function made({ volume, namespace = '', pv }: Vector): { csi: PersistentVolume | null } | { error: string } {
  try {
    return { csi: migratedVolume(pv === undefined ? { volume: volume ?? { name: '' }, namespace } : { pv }) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

test('each vector, and none changes what it was given', () => {
  assert.ok(vectors.length > 500);
  for (const vector of vectors) {
    const text = JSON.stringify(vector);
    const answer = made(vector);
    assert.equal(JSON.stringify(vector), text);
    if (vector.error !== undefined) {
      assert.deepEqual(answer, { error: `failed to translate in-tree pv to CSI: ${vector.error}` }, text);
      continue;
    }
    const { status: _, ...expected } = vector.csi ?? {};
    assert.ok('csi' in answer, `${JSON.stringify(answer)} ${text}`);
    const { status: __, ...mine } = (answer.csi ?? {}) as { status?: object };
    assert.deepEqual(mine, expected, text);
  }
});

test('each of the seven kinds is among them, and other kinds are left alone', () => {
  const drivers = new Set(vectors.flatMap(({ csi }) => csi?.spec?.csi?.driver ?? []));
  assert.equal(drivers.size, 7);
  assert.equal(migratedVolume({ volume: { name: 'v', nfs: { server: 's', path: '/' } }, namespace: '' }), null);
  assert.equal(migratedVolume({ pv: { spec: { csi: { driver: 'd', volumeHandle: 'h' } } } }), null);
});
