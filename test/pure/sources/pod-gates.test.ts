import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseManifest } from '../../../actors/pods/sources/parse-manifest.ts';
import { createPodSources } from '../../../actors/pods/sources/pod-sources.ts';
import { podGatesOf } from '../../../actors/node/pod-gates-of.ts';
import { resolveFeatureGates } from '../../../actors/configure/configuration/feature-gates.ts';
import { createLogger } from '../../../actors/record/logging/create-logger.ts';
import { withoutGatedFields } from '../../../machines/pod-defaults/without-gated-fields.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { podStatus } from '../../../machines/status/pod-status.ts';
import { volumeSetups } from '../../../machines/volumes/volume-setups.ts';
import { nodeSettings } from '../qos/node-settings.ts';
import { statusInput } from '../status/status-fixtures.ts';

/** A pod with all that the gates are about. */
const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u-1' },
  spec: {
    hostnameOverride: 'other.example',
    resources: { requests: { cpu: '1' } },
    restartPolicy: 'Never',
    initContainers: [
      { name: 'sidecar', image: 'a', restartPolicy: 'Always' },
      { name: 'init', image: 'a', restartPolicy: 'OnFailure' },
    ],
    containers: [
      {
        name: 'c',
        image: 'a',
        restartPolicy: 'Never',
        restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
        volumeMounts: [{ name: 'v', mountPath: '/v' }],
      },
    ],
    volumes: [{ name: 'v', image: { reference: 'b', pullPolicy: 'Always' } }],
  },
} as Pod;

test('a field whose gate is off counts as not set, and no other', () => {
  assert.equal(withoutGatedFields(pod, {}), pod);
  assert.equal(withoutGatedFields(pod, podGatesOf(resolveFeatureGates({}).gates)), pod, 'all are on by default');
  const spec = (gates: object) => withoutGatedFields(pod, gates).spec;
  const whole = pod.spec;
  assert.ok(whole !== undefined);
  const { hostnameOverride: _h, ...unnamed } = whole;
  assert.deepEqual(spec({ hostnameOverride: false }), unnamed);
  // Resources that count for the pod stay: admission refuses it by them. None that count are as if they were not set.
  assert.deepEqual(spec({ podLevelResources: false }), whole);
  const none = { ...pod, spec: { ...whole, resources: {} } };
  assert.equal(withoutGatedFields(none, { podLevelResources: false }).spec?.resources, undefined);
  assert.deepEqual(spec({ imageVolume: false }), {
    ...whole,
    volumes: [{ name: 'v', 'image (feature gate ImageVolume is off)': {} }],
  });
  assert.deepEqual(spec({ containerRestartRules: false }), {
    ...whole,
    initContainers: [
      { name: 'sidecar', image: 'a', restartPolicy: 'Always' },
      { name: 'init', image: 'a' },
    ],
    containers: [{ name: 'c', image: 'a', volumeMounts: [{ name: 'v', mountPath: '/v' }] }],
  });
  assert.equal(pod.spec?.hostnameOverride, 'other.example', 'the pod that came is left as it was');
});

test('pods of all sources come without them', () => {
  const { gates } = resolveFeatureGates({ HostnameOverride: false });
  const got: Pod[] = [];
  const sources = createPodSources({
    ...{ fileCheckFrequencyMs: 1_000, httpCheckFrequencyMs: 1_000, nodeName: 'n', otherSources: ['api'] as const },
    gates: podGatesOf(gates),
    log: createLogger({ format: 'text', verbosity: -1 }, { write: () => undefined }),
    now: () => 0,
    onUpdate: ({ pods }) => got.push(...pods),
    onError: (error) => assert.fail(error),
  });
  sources.setPods('api', [pod]);
  assert.equal(got.length, 1);
  assert.equal(got[0]?.spec?.hostnameOverride, undefined);
  assert.equal(got[0]?.spec?.volumes?.[0]?.image?.reference, 'b');
});

test('an image volume whose gate is off is one that nobody can set up', () => {
  assert.deepEqual(volumeSetups(pod, null, nodeSettings({})), { volumes: [] }, 'the runtime mounts it');
  const made = volumeSetups(withoutGatedFields(pod, { imageVolume: false }), null, nodeSettings({}));
  assert.match(
    'error' in made ? made.error : '',
    /^MountVolume\.SetUp failed for volume "v" : volume kind image \(feature gate ImageVolume is off\)/,
  );
});

test('a volume of an API object of a static pod, by the gate', () => {
  const of: Pod = {
    metadata: { name: 's', namespace: 'default', uid: 'u-2', annotations: { 'kubernetes.io/config.source': 'file' } },
    spec: {
      containers: [{ name: 'c', image: 'a', volumeMounts: [{ name: 's', mountPath: '/s' }] }],
      volumes: [{ name: 's', secret: { secretName: 'x' } }],
    },
  };
  const refused = volumeSetups(of, null, nodeSettings({ cluster: true }));
  assert.match('error' in refused ? refused.error : '', /static pods may not reference secrets/);
  const made = volumeSetups(of, null, nodeSettings({ cluster: true, staticReferences: true }));
  assert.ok('volumes' in made && made.volumes[0]?.kind === 'secret');
});

/** The problems of a manifest, in the order in which they are found. */
function problemsOf(manifest: object, off: string[], on: string[] = []): string[] {
  const { gates } = resolveFeatureGates(
    Object.fromEntries([...off.map((gate) => [gate, false]), ...on.map((gate) => [gate, true])]),
  );
  const origin = { kind: 'file' as const, location: '/m/x.yaml', nodeName: 'n', gates: podGatesOf(gates) };
  return parseManifest(JSON.stringify(manifest), origin).errors.map((error) => error.message);
}

const manifest = (spec: object) => ({
  ...{ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web' } },
  spec: { containers: [{ name: 'c', image: 'a' }], ...spec },
});

test('with ContainerRestartRules off a container of a static pod has no policy of its own', () => {
  const own = manifest({ containers: [{ name: 'c', image: 'a', restartPolicy: 'Never' }] });
  assert.deepEqual(problemsOf(own, []), []);
  assert.match(
    problemsOf(own, ['ContainerRestartRules']).join('\n'),
    /spec\.containers\[0\]\.restartPolicy.*may not be set for non-init containers/,
  );
  const init = (restartPolicy: string) => manifest({ initContainers: [{ name: 'i', image: 'a', restartPolicy }] });
  assert.deepEqual(problemsOf(init('Always'), ['ContainerRestartRules']), []);
  assert.match(
    problemsOf(init('Never'), ['ContainerRestartRules']).join('\n'),
    /initContainers\[0\]\.restartPolicy.*"Always"/,
  );
});

test('with UserNamespacesHostNetworkSupport a static pod has its own users in the network of the host', () => {
  const own = manifest({ hostUsers: false, hostNetwork: true });
  const forbidden = /^[^\n]*spec\.hostNetwork: Forbidden: when `hostUsers` is false[^\n]*$/;
  assert.match(problemsOf(own, []).join('\n'), forbidden);
  for (const gate of ['UserNamespacesHostNetworkSupport', 'AllAlpha'])
    assert.deepEqual(problemsOf(own, [], [gate]), []);
  const more = manifest({ hostUsers: false, hostNetwork: true, hostPID: true });
  assert.match(
    problemsOf(more, [], ['UserNamespacesHostNetworkSupport']).join('\n'),
    /^[^\n]*spec\.hostPID: Forb[^\n]*$/,
  );
});

test('with RestartAllContainersOnContainerExits a rule may restart all containers, a sidecar has rules as well', () => {
  const gates = ['RestartAllContainersOnContainerExits', 'NodeDeclaredFeatures'];
  const asking = (restartPolicy: string, action = 'RestartAllContainers') => ({
    ...{ name: 'x', image: 'a', restartPolicy },
    restartPolicyRules: [{ action, exitCodes: { operator: 'In', values: [1] } }],
  });
  const own = manifest({ containers: [asking('Never')] });
  assert.match(
    problemsOf(own, []).join('\n'),
    /restartPolicyRules\[0\]\.action: Unsupported value: "RestartAllContainers"/,
  );
  for (const on of [gates, ['AllAlpha']]) assert.deepEqual(problemsOf(own, [], on), []);
  const sidecar = manifest({ initContainers: [asking('Always')] });
  assert.match(problemsOf(sidecar, []).join('\n'), /restartPolicyRules are not allowed for init containers/);
  assert.deepEqual(problemsOf(sidecar, [], gates), []);
  const other = manifest({ initContainers: [asking('Always', 'Stop')] });
  assert.match(problemsOf(other, [], gates).join('\n'), /restartPolicyRules\[0\]\.action: Unsupported value: "Stop"/);
});

test('with PodLevelResources off what they say is not looked at', () => {
  const wrong = manifest({ resources: { requests: { cpu: '2' }, limits: { cpu: '1' } } });
  assert.notDeepEqual(problemsOf(wrong, []), []);
  assert.deepEqual(problemsOf(wrong, ['PodLevelResources']), []);
});

test('with PreventStaticPodAPIReferences off only trust bundles and claims are refused', () => {
  const gate = ['PreventStaticPodAPIReferences'];
  const secret = manifest({ volumes: [{ name: 's', secret: { secretName: 'x' } }], serviceAccountName: 'me' });
  assert.match(problemsOf(secret, []).join('\n'), /static pods may not reference/);
  assert.deepEqual(problemsOf(secret, gate), []);
  const claim = manifest({ resourceClaims: [{ name: 'gpu', resourceClaimName: 'x' }] });
  assert.match(problemsOf(claim, gate).join('\n'), /static pods may not use ResourceClaims/);
  const bundle = { clusterTrustBundle: { name: 'x', path: 'ca' } };
  const trust = manifest({ volumes: [{ name: 't', projected: { sources: [bundle] } }] });
  assert.match(problemsOf(trust, gate).join('\n'), /may not use ClusterTrustBundle projected volume sources/);
});

test('with PodReadyToStartContainersCondition off pods have no such condition', () => {
  const types = (settings: object) => {
    const input = statusInput({});
    const { conditions = [] } = podStatus({ ...input, settings: { ...input.settings, ...settings } });
    return conditions.map(({ type }) => type);
  };
  const rest = ['Initialized', 'Ready', 'ContainersReady', 'PodScheduled'];
  assert.deepEqual(types({}), ['PodReadyToStartContainers', ...rest]);
  assert.deepEqual(types({ readyToStartCondition: false }), rest);
});
