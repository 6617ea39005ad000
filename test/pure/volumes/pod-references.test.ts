import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Container, Pod, Volume } from '../../../machines/protocol/api-types.ts';
import { podReferences, volumeReferences } from '../../../machines/volumes/pod-references.ts';

const env = (kind: string): Container => ({
  name: kind,
  envFrom: [{ configMapRef: { name: `${kind}-from-c` } }, { secretRef: { name: `${kind}-from-s` } }],
  env: [
    { name: 'A', valueFrom: { configMapKeyRef: { name: `${kind}-c`, key: 'k' } } },
    { name: 'B', valueFrom: { secretKeyRef: { name: `${kind}-s`, key: 'k' } } },
    { name: 'C', value: 'plain' },
  ],
});

test('all names that a pod mentions, and those that its volumes show', () => {
  const pod: Pod = {
    spec: {
      imagePullSecrets: [{ name: 'pull' }, {}, { name: '' }],
      initContainers: [env('init')],
      containers: [env('main'), env('main')],
      ephemeralContainers: [{ ...env('debug') }],
      volumes: [
        { name: 'a', configMap: { name: 'vol-c' } },
        { name: 'b', secret: { secretName: 'vol-s' } },
        {
          name: 'c',
          projected: {
            sources: [
              { serviceAccountToken: { path: 'token' } },
              { configMap: { name: 'kube-root-ca.crt' } },
              { secret: { name: 'proj-s' } },
              { configMap: { name: 'vol-c' } },
            ],
          },
        },
        { name: 'd', csi: { driver: 'd', nodePublishSecretRef: { name: 'csi-s' } } },
        { name: 'e', azureFile: { secretName: 'azure-s', shareName: 's' } },
        { name: 'f', iscsi: { iqn: '', lun: 0, targetPortal: '', secretRef: { name: 'iscsi-s' } } },
        { name: 'g', emptyDir: {} },
      ],
    },
  };
  assert.deepEqual(volumeReferences(pod), {
    configMaps: ['vol-c', 'kube-root-ca.crt'],
    secrets: ['vol-s', 'proj-s'],
  });
  const kinds = ['init', 'main', 'debug'];
  assert.deepEqual(podReferences(pod), {
    configMaps: [...kinds.flatMap((kind) => [`${kind}-from-c`, `${kind}-c`]), 'vol-c', 'kube-root-ca.crt'],
    secrets: [
      'pull',
      ...kinds.flatMap((kind) => [`${kind}-from-s`, `${kind}-s`]),
      'vol-s',
      'proj-s',
      'csi-s',
      'azure-s',
      'iscsi-s',
    ],
  });
  assert.deepEqual(podReferences({}), { configMaps: [], secrets: [] });
});

test('what volumes show is among what the pod names, each once', () => {
  const name = fc.constantFrom('a', 'b', 'c', '');
  const volume: fc.Arbitrary<Volume> = fc.oneof(
    name.map((one) => ({ name: 'v', configMap: { name: one } })),
    name.map((one) => ({ name: 'v', secret: { secretName: one } })),
    fc.tuple(name, name).map(([one, two]) => ({
      name: 'v',
      projected: { sources: [{ configMap: { name: one } }, { secret: { name: two } }] },
    })),
  );
  fc.assert(
    fc.property(fc.array(volume), fc.array(name), (volumes, pulls) => {
      const pod: Pod = {
        spec: { containers: [], volumes, imagePullSecrets: pulls.map((one) => ({ name: one })) },
      };
      const [all, shown] = [podReferences(pod), volumeReferences(pod)];
      for (const kind of ['configMaps', 'secrets'] as const) {
        assert.equal(new Set(all[kind]).size, all[kind].length);
        assert.ok(!all[kind].includes(''));
        for (const one of shown[kind]) assert.ok(all[kind].includes(one));
      }
    }),
  );
});
