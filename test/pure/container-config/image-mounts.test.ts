import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mountsImages } from '../../../actors/node/node-settings-of.ts';
import { containerMounts, subPathMounts } from '../../../machines/container-config/volume-mounts.ts';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import { nodeSettings } from '../qos/node-settings.ts';

type VolumeMount = NonNullable<Container['volumeMounts']>[number];
const image = { image: 'sha256:1', userSpecifiedImage: 'a/b:1', runtimeHandler: '', annotations: {} };

function mounted(mount: Partial<VolumeMount>, subPaths: Record<string, string> = {}, runtime: object = {}) {
  const container: Container = { name: 'c', volumeMounts: [{ name: 'v', mountPath: '/v', ...mount }] };
  const pod: Pod = { spec: { containers: [container], volumes: [{ name: 'v', image: { reference: 'a/b:1' } }] } };
  const base = nodeSettings();
  const settings = { ...base, runtimeFeatures: { ...base.runtimeFeatures, ...runtime } };
  const envs = 'cluster' in runtime ? null : [{ key: 'DIR', value: 'of-env' }];
  const paths = { volumePaths: {}, imageVolumes: { v: image }, subPaths, terminationLogPath: '/t', hostsPath: null };
  const needed = subPathMounts(pod, container, envs, {});
  const made = containerMounts(pod, container, envs, [], paths, settings);
  return { needed, made: 'error' in made ? made.error.message : made.mounts[0] };
}

test('an image volume is mounted read-only, whatever the mount says, and without a path of the node', () => {
  const expected = { containerPath: '/v', hostPath: '', readonly: true, selinuxRelabel: false, propagation: 0, image };
  assert.deepEqual(mounted({ readOnly: false }).made, expected);
  assert.deepEqual(mounted({ subPath: 'x/y' }).made, { ...expected, imageSubPath: 'x/y' });
  assert.deepEqual(mounted({ subPathExpr: '$(DIR)/y' }).made, { ...expected, imageSubPath: 'of-env/y' });
});

test('sub paths of images are checked, and nothing of them is prepared on the node', () => {
  assert.deepEqual(mounted({ subPath: 'x' }).needed, { subPaths: [] });
  assert.equal(mounted({ subPath: '/x' }).made, 'error SubPath `/x` must not be an absolute path');
  assert.equal(
    mounted({ subPath: 'a/../../x' }).made,
    "unable to provision SubPath `a/../../x`: must not contain '..'",
  );
});

test('an expression that the worker expands comes back by the key of the mount', () => {
  const { needed, made } = mounted({ subPathExpr: '$(SECRET)' }, { 'v/c/0': 'told' }, { cluster: true });
  assert.deepEqual(needed, {
    subPaths: [{ key: 'v/c/0', volumePath: '', subPath: '$(SECRET)', readOnly: true, expand: true, ofImage: true }],
  });
  assert.ok(typeof made === 'object');
  assert.equal(made.imageSubPath, 'told');
});

test('a runtime that is too old to mount images is named', () => {
  assert.equal(
    mounted({}, {}, { withoutImageVolumes: 'containerd 1.6.20' }).made,
    'volume "v" is an image, which container runtime containerd 1.6.20 cannot mount: containerd 2.1 and CRI-O 1.31 can',
  );
  const mounts = (runtimeName: string, runtimeVersion: string) => mountsImages({ runtimeName, runtimeVersion });
  assert.equal(mounts('containerd', '1.6.20~ds1'), false);
  assert.equal(mounts('containerd', 'v2.0.5'), false);
  assert.equal(mounts('containerd', 'v2.1.0'), true);
  assert.equal(mounts('containerd', 'v2.4.2'), true);
  assert.equal(mounts('cri-o', '1.30.1'), false);
  assert.equal(mounts('cri-o', '1.31.0'), true);
  assert.equal(mounts('simulated', 'whatever'), true);
});
