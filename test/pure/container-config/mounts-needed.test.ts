import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Pod, Volume } from '../../../machines/protocol/api-types.ts';
import { hostsFile } from '../../../machines/container-config/hosts-file.ts';
import { subPathsNeeded } from '../../../machines/container-config/mounts-needed.ts';
import { volumeSetups } from '../../../machines/volumes/volume-setups.ts';
import { nodeSettings } from '../qos/node-settings.ts';

const settings = nodeSettings();
function podWith(volumes: Volume[], more: Partial<NonNullable<Pod['spec']>> = {}): Pod {
  return {
    metadata: {
      name: 'web',
      namespace: 'shop',
      uid: 'u',
      labels: { a: 'b' },
      annotations: { 'kubernetes.io/config.source': 'file' },
    },
    spec: {
      containers: [{ name: 'c', volumeMounts: volumes.map(({ name }) => ({ name, mountPath: `/${name}` })) }],
      volumes,
      ...more,
    },
  };
}

test('emptyDir, hostPath and downward API volumes', () => {
  const pod = podWith([
    { name: 'e', emptyDir: { sizeLimit: '1Mi' } },
    { name: 'plain' },
    { name: 'm', emptyDir: { medium: 'Memory' } },
    { name: 'small', emptyDir: { medium: 'Memory', sizeLimit: '64Mi' } },
    { name: 'h', hostPath: { path: '/h', type: 'DirectoryOrCreate' } },
    {
      name: 'd',
      downwardAPI: {
        defaultMode: 0o400,
        items: [
          { path: './x//labels', fieldRef: { fieldPath: 'metadata.labels' } },
          { path: 'cpu', mode: 0o600, resourceFieldRef: { containerName: 'c', resource: 'limits.cpu', divisor: '1m' } },
        ],
      },
    },
  ]);
  pod.spec?.volumes?.push({ name: 'unused', secret: { secretName: 's' } });
  assert.deepEqual(volumeSetups(pod, null, settings), {
    volumes: [
      { name: 'e', kind: 'emptyDir', medium: '', sizeLimitBytes: 2 ** 20 },
      { name: 'plain', kind: 'emptyDir', medium: '' },
      { name: 'm', kind: 'emptyDir', medium: 'Memory', sizeLimitBytes: 7 * 2 ** 30 },
      { name: 'small', kind: 'emptyDir', medium: 'Memory', sizeLimitBytes: 2 ** 26 },
      { name: 'h', kind: 'hostPath', path: '/h', type: 'DirectoryOrCreate' },
      {
        name: 'd',
        kind: 'downwardAPI',
        files: [
          { path: 'x/labels', content: 'a="b"', mode: 0o400 },
          { path: 'cpu', content: '4000', mode: 0o600 },
        ],
      },
    ],
  });
});

test('what cannot be set up says so in the kubelet’s words', () => {
  const error = (volume: Volume): string => {
    const made = volumeSetups(podWith([volume]), null, settings);
    return 'error' in made ? made.error : 'none';
  };
  const failed = 'MountVolume.SetUp failed for volume "v" : ';
  assert.equal(error({ name: 'v', secret: {} }), `${failed}static pods may not reference secrets (via secret volumes)`);
  assert.equal(
    error({ name: 'v', projected: { sources: [{ configMap: { name: 'x' } }] } }),
    `${failed}static pods may not reference configmaps (via projected volumes)`,
  );
  assert.equal(
    error({ name: 'v', persistentVolumeClaim: { claimName: 'x' } }),
    `${failed}static pods may not reference persistentvolumeclaims`,
  );
  assert.match(
    error({ name: 'v', ...{ newest: { lun: 1 } } }),
    /volume kind newest is not supported by this agent yet; supported: emptyDir, hostPath, downwardAPI, configMap, secret, projected/,
  );
  const fields = (...paths: string[]): string =>
    error({
      name: 'v',
      downwardAPI: { items: paths.map((fieldPath) => ({ path: fieldPath, fieldRef: { fieldPath } })) },
    });
  assert.equal(fields('status.podIP'), `${failed}unsupported fieldPath: status.podIP`);
  assert.equal(fields('x', 'y'), `${failed}[unsupported fieldPath: x, unsupported fieldPath: y]`);
});

test('a memory volume is no bigger than the pod’s memory limit', () => {
  const pod = podWith([{ name: 'm', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } }], {
    containers: [
      { name: 'c', resources: { limits: { memory: '32Mi' } }, volumeMounts: [{ name: 'm', mountPath: '/m' }] },
    ],
  });
  const made = volumeSetups(pod, null, settings);
  assert.deepEqual(made, { volumes: [{ name: 'm', kind: 'emptyDir', medium: 'Memory', sizeLimitBytes: 2 ** 25 }] });
});

test('sub paths to prepare', () => {
  const container = {
    name: 'c',
    env: [{ name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } }],
    volumeMounts: [
      { name: 'v', mountPath: '/a' },
      { name: 'v', mountPath: '/b', subPathExpr: 'logs/$(POD)', readOnly: true },
      { name: 'v', mountPath: '/c', subPath: 'k' },
    ],
  };
  const pod = podWith([{ name: 'v', emptyDir: {} }]);
  assert.deepEqual(subPathsNeeded(pod, container, [], settings, { v: '/vol' }), {
    subPaths: [
      { key: 'v/c/1', volumePath: '/vol', subPath: 'logs/web', readOnly: true },
      { key: 'v/c/2', volumePath: '/vol', subPath: 'k', readOnly: false },
    ],
  });
  const ofPlugins = subPathsNeeded(pod, container, [], settings, { v: '/vol' }, true);
  assert.ok('subPaths' in ofPlugins);
  assert.deepEqual(ofPlugins.subPaths, [
    { key: 'v/c/1', volumePath: '/vol', subPath: 'logs/$(POD)', expand: true, readOnly: true },
    { key: 'v/c/2', volumePath: '/vol', subPath: 'k', readOnly: false },
  ]);
  assert.equal(ofPlugins.devices, true, 'plugins may have given it the variable');
  assert.deepEqual(ofPlugins.env?.steps, [{ step: 'set', name: 'POD', value: 'web' }]);
  const plain = { ...container, volumeMounts: [{ name: 'v', mountPath: '/c', subPath: 'k' }] };
  assert.deepEqual(subPathsNeeded(pod, plain, [], settings, { v: '/vol' }, true), {
    subPaths: [{ key: 'v/c/0', volumePath: '/vol', subPath: 'k', readOnly: false }],
  });
  assert.deepEqual(subPathsNeeded(pod, container, [], settings, {}), {
    error: 'cannot find volume "v" to mount into container "c"',
  });
});

test('the hosts file', () => {
  const pod = podWith([], {
    hostname: 'h',
    subdomain: 's',
    hostAliases: [{ ip: '1.2.3.4', hostnames: ['x', 'y'] }],
  });
  const head =
    '# Kubernetes-managed hosts file.\n127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n' +
    'fe00::0\tip6-localnet\nfe00::0\tip6-mcastprefix\nfe00::1\tip6-allnodes\nfe00::2\tip6-allrouters\n';
  const aliases = '\n# Entries added by HostAliases.\n1.2.3.4\tx\ty\n';
  const fqdn = 'h.s.shop.svc.cluster.local\th';
  assert.equal(
    hostsFile(pod, ['10.0.0.9', 'fd00::9'], settings),
    `${head}10.0.0.9\t${fqdn}\nfd00::9\t${fqdn}\n${aliases}`,
  );
  assert.equal(hostsFile(podWith([]), ['10.0.0.9'], settings), `${head}10.0.0.9\tweb\n`);
  const host = podWith([], { hostNetwork: true });
  assert.equal(
    hostsFile(host, [], settings, '127.0.0.1 me\n'),
    '# Kubernetes-managed hosts file (host network).\n127.0.0.1 me\n',
  );
});
