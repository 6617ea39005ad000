import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { ALL_BEHAVIOUR, BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import { MANAGED_KINDS, OLD_KINDS, SCSI_KINDS } from '../../../machines/protocol/managed-kinds.ts';
import type { Container, Pod, Volume } from '../../../machines/protocol/api-types.ts';
import { nestedMounts, volumeOwner, volumeSetups } from '../../../machines/volumes/volume-setups.ts';
import { nodeSettings } from '../qos/node-settings.ts';

const cluster = nodeSettings({ cluster: true });

function podWith(volumes: Volume[], more: Partial<NonNullable<Pod['spec']>> = {}): Pod {
  return {
    metadata: { name: 'web', namespace: 'shop', uid: 'u', labels: { a: 'b' } },
    spec: {
      containers: [{ name: 'c', volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })) }],
      volumes,
      ...more,
    },
  };
}

const failure = (pod: Pod, settings = cluster): string => {
  const made = volumeSetups(pod, null, settings);
  return 'error' in made ? made.error : 'none';
};
const failed = 'MountVolume.SetUp failed for volume "v" : ';

test('configMap and secret: which keys, modes, whether they may be missing', () => {
  const pod = podWith([
    { name: 'c', configMap: { name: 'conf' } },
    { name: 's', secret: { secretName: 'key', defaultMode: 0o400, optional: true, items: [] } },
    {
      name: 'i',
      configMap: {
        name: 'conf',
        items: [
          { key: 'a', path: 'x/a' },
          { key: 'b', path: 'b', mode: 0o755 },
        ],
      },
    },
  ]);
  assert.deepEqual(volumeSetups(pod, null, cluster), {
    volumes: [
      { name: 'c', kind: 'configMap', object: 'conf', optional: false, defaultMode: 0o644 },
      { name: 's', kind: 'secret', object: 'key', optional: true, defaultMode: 0o400 },
      {
        name: 'i',
        kind: 'configMap',
        object: 'conf',
        optional: false,
        defaultMode: 0o644,
        items: [
          { key: 'a', path: 'x/a' },
          { key: 'b', path: 'b', mode: 0o755 },
        ],
      },
    ],
  });
});

test('a projected volume as the API server gives one to every pod', () => {
  const pod = podWith([
    {
      name: 'kube-api-access-x',
      projected: {
        defaultMode: 0o600,
        sources: [
          { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
          { serviceAccountToken: { path: 'vault', audience: 'vault' } },
          { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          { downwardAPI: { items: [{ path: './namespace', fieldRef: { fieldPath: 'metadata.namespace' } }] } },
          { secret: { name: 'key', optional: true } },
          {},
        ],
      },
    },
  ]);
  assert.deepEqual(volumeSetups(pod, null, cluster), {
    volumes: [
      {
        name: 'kube-api-access-x',
        kind: 'projected',
        defaultMode: 0o600,
        sources: [
          { kind: 'serviceAccountToken', audience: '', expirationSeconds: 3607, path: 'token' },
          { kind: 'serviceAccountToken', audience: 'vault', expirationSeconds: 3600, path: 'vault' },
          {
            kind: 'configMap',
            object: 'kube-root-ca.crt',
            optional: false,
            items: [{ key: 'ca.crt', path: 'ca.crt' }],
          },
          { kind: 'downwardAPI', files: [{ path: 'namespace', content: 'shop', mode: 0o600 }] },
          { kind: 'secret', object: 'key', optional: true },
        ],
      },
    ],
  });
});

test('trust bundles and pod certificates of a projected volume', () => {
  const labelSelector = { matchLabels: { a: 'b' } };
  const pod = podWith([
    {
      name: 'v',
      projected: {
        sources: [
          { clusterTrustBundle: { name: 'n', path: 'p', optional: true } },
          { clusterTrustBundle: { signerName: 's/x', labelSelector, path: 'q' } },
          { clusterTrustBundle: { signerName: 's/x', path: 'r' } },
          { podCertificate: { signerName: 's/x', keyType: 'ED25519', credentialBundlePath: 'b' } },
          { podCertificate: { signerName: 's/x', keyType: 'ED25519', keyPath: 'k', certificateChainPath: 'c' } },
        ],
      },
    },
  ]);
  const made = volumeSetups(pod, null, cluster);
  assert.ok('volumes' in made);
  assert.deepEqual(made.volumes[0], {
    ...{ name: 'v', kind: 'projected', defaultMode: 0o644 },
    sources: [
      { kind: 'clusterTrustBundle', name: 'n', optional: true, path: 'p' },
      { kind: 'clusterTrustBundle', signerName: 's/x', labelSelector, optional: false, path: 'q' },
      { kind: 'clusterTrustBundle', signerName: 's/x', optional: false, path: 'r' },
      { kind: 'podCertificate', index: 3, bundlePath: 'b' },
      { kind: 'podCertificate', index: 4, keyPath: 'k', chainPath: 'c' },
    ],
  });
});

test('what a projected volume cannot show, all at once', () => {
  const sources = (...list: NonNullable<NonNullable<Volume['projected']>['sources']>): Pod =>
    podWith([{ name: 'v', projected: { sources: list } }]);
  const nobody = 'ClusterTrustBundle projection requires either name or signerName to be set';
  const bundle = { clusterTrustBundle: { path: 'p' } };
  assert.equal(failure(sources(bundle)), failed + nobody);
  assert.equal(
    failure(sources(bundle, { downwardAPI: { items: [{ path: 'x', fieldRef: { fieldPath: 'status.podIP' } }] } })),
    `${failed}[${nobody}, unsupported fieldPath: status.podIP]`,
  );
});

test('without an API server there are no objects; a static pod may name none anyway', () => {
  const alone = nodeSettings();
  const volumes: Volume[] = [
    { name: 'v', configMap: { name: 'x' } },
    { name: 'v', secret: { secretName: 'x' } },
  ];
  for (const volume of volumes) {
    assert.equal(failure(podWith([volume]), alone), `${failed}not supported due to running kubelet in standalone mode`);
  }
  assert.equal(
    failure(podWith([{ name: 'v', projected: { sources: [] } }]), alone),
    `${failed}cannot setup projected volume v because kube client is not configured`,
  );
  const pod = podWith([{ name: 'v', configMap: { name: 'x' } }]);
  pod.metadata = { ...pod.metadata, annotations: { 'kubernetes.io/config.source': 'file' } };
  assert.equal(failure(pod), `${failed}static pods may not reference configmaps (via configmap volumes)`);
});

test('huge pages take the size that the pod requests', () => {
  const pod = (medium: string, ...requests: Record<string, string>[]): Pod =>
    podWith([{ name: 'v', emptyDir: { medium } }], {
      containers: requests.map((list, i) => ({
        name: `c${i}`,
        resources: { requests: list },
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
      })),
    });
  const size = (made: Pod): unknown => {
    const found = volumeSetups(made, null, cluster);
    return 'volumes' in found ? found.volumes[0] : found.error;
  };
  const huge = (medium: string, hugePageSize: string) => ({ name: 'v', kind: 'emptyDir', medium, hugePageSize });
  const [small, big] = [{ 'hugepages-2Mi': '4Mi' }, { 'hugepages-1Gi': '1Gi' }];
  assert.deepEqual(size(pod('HugePages', small, {})), huge('HugePages', '2Mi'));
  assert.deepEqual(size(pod('HugePages-1Gi', small, big)), huge('HugePages-1Gi', '1Gi'));
  assert.deepEqual(size(pod('HugePages-2048Ki', small, big)), huge('HugePages-2048Ki', '2Mi'));
  assert.equal(
    size(pod('HugePages', small, big)),
    `${failed}medium: HugePages can't be used if container requests multiple huge page sizes`,
  );
  for (const none of [pod('HugePages', {}), pod('HugePages-1Gi', small), pod('HugePages-x', small)])
    assert.match(String(size(none)), /hugePages storage requested, but there is no resource request for huge pages$/);
});

test('with quotas the emptyDirs on disk of a pod in a user namespace are counted, by the lesser of both limits', () => {
  const settings = nodeSettings({ volumeQuotas: true });
  const quota = (
    { sizeLimit, limit, medium }: { sizeLimit?: string; limit?: string; medium?: string },
    hostUsers?: boolean,
    of = settings,
  ) => {
    const emptyDir = { ...(sizeLimit && { sizeLimit }), ...(medium && { medium }) };
    const resources = limit === undefined ? {} : { limits: { 'ephemeral-storage': limit } };
    const pod = podWith([{ name: 'v', emptyDir }], {
      ...(hostUsers !== undefined && { hostUsers }),
      containers: [{ name: 'c', resources, volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
    });
    const made = volumeSetups(pod, null, of);
    const [setup] = 'volumes' in made ? made.volumes : [];
    return setup?.kind === 'emptyDir' ? setup.quotaBytes : null;
  };
  assert.equal(quota({ sizeLimit: '1Ki' }, false), 1024);
  assert.equal(quota({ sizeLimit: '3Ki', limit: '2Ki' }, false), 2048);
  assert.equal(quota({ sizeLimit: '1Ki', limit: '2Ki' }, false), 1024);
  assert.equal(quota({ limit: '2Ki' }, false), 2048);
  assert.equal(quota({}, false), 0);
  assert.equal(quota({ sizeLimit: '1Ki' }), undefined);
  assert.equal(quota({ sizeLimit: '1Ki' }, true), undefined);
  assert.equal(quota({ sizeLimit: '1Ki', medium: 'Memory' }, false), undefined);
  assert.equal(quota({ sizeLimit: '1Ki' }, false, cluster), undefined);
});

test('the owner: service account, the one user of all containers, the memory that files may take', () => {
  const container = (runAsUser?: number): Container => ({
    name: 'c',
    ...(runAsUser !== undefined && { securityContext: { runAsUser } }),
  });
  const user = (spec: NonNullable<Pod['spec']>): number | undefined => volumeOwner(podWith([], spec)).runAsUser;
  assert.deepEqual(volumeOwner(podWith([])), { namespace: 'shop', name: 'web', serviceAccount: 'default' });
  assert.equal(volumeOwner(podWith([], { serviceAccountName: 'clerk' })).serviceAccount, 'clerk');
  assert.equal(user({ containers: [container(5), container(5)] }), 5);
  assert.equal(user({ containers: [container(0)] }), 0);
  assert.equal(user({ containers: [container(5), container()] }), undefined);
  assert.equal(user({ containers: [container(5), container(6)] }), undefined);
  assert.equal(user({ containers: [container(), container(6)], securityContext: { runAsUser: 6 } }), 6);
  assert.equal(user({ containers: [container(6)], initContainers: [container(7)] }), undefined);
  assert.equal(user({ containers: [container(6)], ephemeralContainers: [{ ...container() }] }), undefined);
  assert.equal(volumeOwner(podWith([]), cluster).memoryBytes, 7 * 2 ** 30);
  const limited = podWith([], { containers: [{ name: 'c', resources: { limits: { memory: '32Mi', cpu: '1' } } }] });
  assert.equal(volumeOwner(limited, cluster).memoryBytes, 2 ** 25);
});

test('mount points inside of a volume that is filled by the agent', () => {
  const at = (...mounts: [name: string, mountPath: string][]): Pod =>
    podWith([{ name: 'v', secret: { secretName: 's' } }], {
      containers: [{ name: 'c', volumeMounts: mounts.map(([name, mountPath]) => ({ name, mountPath })) }],
    });
  const nested = (pod: Pod): unknown => {
    const made = nestedMounts(pod, 'v');
    return 'folders' in made ? made.folders.sort() : made.fault;
  };
  assert.deepEqual(nested(at(['v', '/dir'])), []);
  assert.deepEqual(
    nested(
      at(['v', '/dir/'], ['a', '/dir/nested/double'], ['b', '/dir//nested'], ['c', '/dir/nested-vol'], ['d', '/dir2']),
    ),
    ['nested', 'nested-vol'],
  );
  assert.equal(nested(at(['v', '../dir'])), 'invalid container mount point ../dir');
  assert.deepEqual(volumeSetups(at(['v', '/a'], ['v', '/a/b/c']), null, cluster), {
    volumes: [{ name: 'v', kind: 'secret', object: 's', optional: false, defaultMode: 0o644, nested: ['b/c'] }],
  });
});

test('nested mount points never lead out of the volume, and none lies in another of the same mount', () => {
  const part = fc.constantFrom('a', 'b', 'b-c', '..', '.', '');
  const path = fc.array(part, { maxLength: 6 }).map((parts) => `/${parts.join('/')}`);
  fc.assert(
    fc.property(path, fc.array(path, { maxLength: 6 }), (own, others) => {
      const mounts = [{ name: 'v', mountPath: own }, ...others.map((mountPath) => ({ name: 'o', mountPath }))];
      const made = nestedMounts({ spec: { containers: [{ name: 'c', volumeMounts: mounts }] } }, 'v');
      assert.ok('folders' in made);
      for (const folder of made.folders) {
        assert.ok(!folder.startsWith('/') && folder !== '' && !folder.split('/').includes('..'), folder);
        for (const other of made.folders) assert.ok(other === folder || !folder.startsWith(`${other}/`));
      }
    }),
  );
});

test('what the volume manager sets up is asked of it; kinds that are off or not made yet are refused, and older logs replay', () => {
  const setupOf = (volume: object, behaviour: readonly number[] = ALL_BEHAVIOUR) =>
    volumeSetups(podWith([{ name: 'v', ...volume }]), null, nodeSettings({ cluster: true, behaviour: [...behaviour] }));
  for (const kind of MANAGED_KINDS) assert.deepEqual(setupOf({ [kind]: {} }), { volumes: [{ name: 'v', kind }] });
  const refused = (volume: object, behaviour?: readonly number[]): string => {
    const answer = setupOf(volume, behaviour);
    return 'error' in answer ? answer.error : '';
  };
  const nfs = { nfs: { server: 's', path: '/' } };
  const text =
    'is not supported by this agent yet; supported: emptyDir, hostPath, downwardAPI, configMap, secret, projected';
  assert.equal(refused(nfs, []), `${failed}volume kind nfs ${text}`);
  assert.equal(
    refused({ newest: {} }),
    `${failed}volume kind newest ${text}, persistentVolumeClaim, ephemeral, csi, nfs, iscsi, fc, flexVolume, and volumes of clouds by their CSI drivers`,
  );
  const without = (change: 'oldKindsAreManaged' | 'scsiKindsAreManaged'): number[] =>
    ALL_BEHAVIOUR.filter((each) => each !== BEHAVIOUR[change]);
  for (const kind of OLD_KINDS)
    assert.equal(
      refused({ [kind]: {} }, without('oldKindsAreManaged')),
      `${failed}volume kind ${kind} ${text}, persistentVolumeClaim, ephemeral, csi, nfs, iscsi, fc`,
    );
  for (const kind of SCSI_KINDS)
    assert.equal(
      refused({ [kind]: {} }, without('scsiKindsAreManaged')),
      `${failed}volume kind ${kind} ${text}, persistentVolumeClaim, ephemeral, csi, nfs, flexVolume, and volumes of clouds by their CSI drivers`,
    );
  assert.match(
    refused({ gitRepo: { repository: 'x' } }),
    /: git-repo volume plugin has been disabled; .*`GitRepoVolumeDriver`$/,
  );
});
