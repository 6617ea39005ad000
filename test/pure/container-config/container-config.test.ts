import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import type { ContainerConfig } from '../../../machines/protocol/cri-shapes.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import { CURRENT } from '../../../machines/protocol/behaviour.ts';
import {
  containerConfig,
  stopSignalName,
  stopSignalNumber,
} from '../../../machines/container-config/container-config.ts';
import type { ContainerConfigInput } from '../../../machines/container-config/container-config.ts';
import { nodeSettings } from '../qos/node-settings.ts';

type Spec = Partial<NonNullable<Pod['spec']>>;
function inputOf(
  container: Partial<Container>,
  spec: Spec = {},
  more: Partial<ContainerConfigInput> = {},
): ContainerConfigInput {
  const own: Container = { name: 'c', image: 'img:1', ...container };
  return {
    pod: { metadata: { name: 'web', namespace: 'shop', uid: 'u-1' }, spec: { containers: [own], ...spec } },
    container: own,
    kind: 'regular',
    attempt: 0,
    image: { imageRef: 'sha256:abc', uid: null, username: '' },
    podIPs: ['10.0.0.9'],
    volumePaths: { data: '/pods/u-1/volumes/data', info: '/pods/u-1/volumes/info' },
    subPaths: {},
    terminationLogPath: '/pods/u-1/containers/c/log',
    hostsPath: '/pods/u-1/etc-hosts',
    settings: nodeSettings(),
    ...more,
  };
}
function configOf(...args: Parameters<typeof inputOf>): ContainerConfig {
  const made = containerConfig(inputOf(...args));
  if ('error' in made) assert.fail(made.error.message);
  return made.config;
}
function messageOf(...args: Parameters<typeof inputOf>): string {
  const made = containerConfig(inputOf(...args));
  if ('config' in made) assert.fail('no error');
  assert.equal(made.error.reason, 'CreateContainerConfigError');
  return made.error.message;
}
const settingsWith = (changes: Partial<NodeSettings>): Partial<ContainerConfigInput> => ({
  settings: nodeSettings(changes),
});

test('a small container', () => {
  const config = configOf(
    { command: ['sh', '-c'], args: ['echo $(A) $(B)'], env: [{ name: 'A', value: '1' }] },
    {},
    { attempt: 2 },
  );
  const { linux, ...rest } = config;
  assert.deepEqual(rest, {
    metadata: { name: 'c', attempt: 2 },
    image: { image: 'sha256:abc', userSpecifiedImage: 'img:1' },
    command: ['sh', '-c'],
    args: ['echo 1 $(B)'],
    workingDir: '',
    envs: [{ key: 'A', value: '1' }],
    mounts: [
      {
        containerPath: '/etc/hosts',
        hostPath: '/pods/u-1/etc-hosts',
        readonly: false,
        selinuxRelabel: false,
        propagation: 0,
      },
      {
        containerPath: '/dev/termination-log',
        hostPath: '/pods/u-1/containers/c/log',
        readonly: false,
        selinuxRelabel: false,
        propagation: 0,
      },
    ],
    devices: [],
    labels: {
      'io.kubernetes.container.name': 'c',
      'io.kubernetes.pod.name': 'web',
      'io.kubernetes.pod.namespace': 'shop',
      'io.kubernetes.pod.uid': 'u-1',
    },
    annotations: {
      'io.kubernetes.container.hash': rest.annotations['io.kubernetes.container.hash'],
      'io.kubernetes.container.restartCount': '2',
      'io.kubernetes.container.terminationMessagePath': '/dev/termination-log',
      'io.kubernetes.container.terminationMessagePolicy': 'File',
      'io.kubernetes.pod.terminationGracePeriod': '30',
    },
    logPath: 'c/2.log',
    stdin: false,
    stdinOnce: false,
    tty: false,
  });
  assert.match(rest.annotations['io.kubernetes.container.hash'] ?? '', /^[0-9a-f]{1,8}$/);
  assert.deepEqual(linux.resources, { cpuShares: '2', cpuPeriod: '100000', oomScoreAdj: '1000' });
  assert.deepEqual(linux.securityContext.runAsUser, { value: '0' });
  assert.equal(linux.securityContext.namespaceOptions.pid, 1);
  assert.deepEqual(linux.securityContext.seccomp, { profileType: 1 });
  assert.equal(linux.securityContext.maskedPaths.length, 12);
  assert.equal(linux.securityContext.readonlyPaths.length, 5);
});

test('annotations carry hooks and ports as the kubelet writes them', () => {
  const { annotations } = configOf(
    {
      lifecycle: {
        preStop: { httpGet: { scheme: 'HTTP', port: 80, path: '/a?b<c', httpHeaders: [{ value: 'v', name: 'n' }] } },
      },
      ports: [{ protocol: 'UDP', containerPort: 53, name: 'dns' }, { containerPort: 80 }],
    },
    { terminationGracePeriodSeconds: 0 },
  );
  assert.equal(
    annotations['io.kubernetes.container.preStopHandler'],
    '{"httpGet":{"path":"/a?b\\u003cc","port":80,"scheme":"HTTP","httpHeaders":[{"name":"n","value":"v"}]}}',
  );
  assert.equal(
    annotations['io.kubernetes.container.ports'],
    '[{"name":"dns","containerPort":53,"protocol":"UDP"},{"containerPort":80,"protocol":"TCP"}]',
  );
  assert.equal(annotations['io.kubernetes.pod.terminationGracePeriod'], '0');
});

test('resources: cgroup v1 and v2, swap, huge pages', () => {
  const resources = {
    requests: { cpu: '100m', memory: '1Gi' },
    limits: { cpu: '500m', memory: '2Gi', 'hugepages-2Mi': '4Mi' },
  };
  const v1 = configOf({ resources }, {}, settingsWith({ swapController: true, hugePageSizes: ['1GB', '2MB'] }));
  assert.deepEqual(v1.linux.resources, {
    cpuShares: '102',
    cpuQuota: '50000',
    cpuPeriod: '100000',
    memoryLimitInBytes: '2147483648',
    memorySwapLimitInBytes: '2147483648',
    oomScoreAdj: '875',
    hugepageLimits: [
      { pageSize: '1GB', limit: '0' },
      { pageSize: '2MB', limit: '4194304' },
    ],
  });
  const v2 = configOf({ resources }, {}, settingsWith({ swapController: true, cgroupVersion: 2 }));
  assert.deepEqual(v2.linux.resources.unified, { 'memory.oom.group': '1', 'memory.swap.max': '0' });
  assert.equal(v2.linux.resources.memorySwapLimitInBytes, undefined);
  const single = configOf({ resources }, {}, settingsWith({ singleProcessOOMKill: true, cgroupVersion: 2 }));
  assert.equal(single.linux.resources.unified, undefined);
  const podLevel = configOf(
    {},
    { resources: { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '1', memory: '1Gi' } } },
  );
  assert.equal(podLevel.linux.resources.cpuQuota, '100000');
  assert.equal(podLevel.linux.resources.memoryLimitInBytes, '1073741824');
});

test('limited swap: the share of the memory that is asked for, of burstable pods that are not critical', () => {
  const noSwap = {
    swapController: true,
    cgroupVersion: 2 as const,
    singleProcessOOMKill: true,
    capacity: { cpuMilli: 1000, memoryBytes: 4 * 2 ** 30, ephemeralStorageBytes: 0 },
  };
  const settings = settingsWith({ ...noSwap, limitedSwapBytes: 2 ** 30 });
  const swap = (resources: object, spec = {}, node = settings) =>
    configOf({ resources }, spec, node).linux.resources.unified?.['memory.swap.max'];
  const burstable = { requests: { memory: '1Gi' }, limits: { memory: '2Gi' } };
  assert.equal(swap(burstable), String(2 ** 28));
  assert.equal(swap({ requests: { memory: '300Mi' } }), String(300 * 2 ** 18));
  assert.equal(swap({ requests: { memory: '8Gi' } }), '0');
  assert.equal(swap({ requests: { memory: '1Gi' }, limits: { memory: '1Gi' } }), '0');
  assert.equal(swap({ requests: { cpu: '1' } }), '0');
  assert.equal(swap({}), '0');
  assert.equal(swap(burstable, { priority: 2_000_000_000 }), '0');
  assert.equal(swap(burstable, {}, settingsWith(noSwap)), '0');
});

test('memory QoS: what is asked for is kept, and what nears its limit is slowed down, by whole pages', () => {
  const node = settingsWith({
    cgroupVersion: 2,
    singleProcessOOMKill: true,
    memoryQoS: { throttlingFactor: 0.9, pageBytes: 4096, unreservedBytes: 1_000_000_000 },
  });
  const files = (resources: object) => configOf({ resources }, {}, node).linux.resources.unified;
  assert.deepEqual(files({ requests: { memory: '100M' }, limits: { memory: '200M' } }), {
    'memory.min': '100000000',
    // 100 M + 0.9 * 100 M = 190 M, of which 46386 pages of 4096 bytes are whole
    'memory.high': '189997056',
  });
  assert.deepEqual(files({ requests: { memory: '100M' } }), { 'memory.min': '100000000', 'memory.high': '909996032' });
  assert.deepEqual(files({ requests: { memory: '1Gi' }, limits: { memory: '1Gi' } }), { 'memory.min': '1073741824' });
  assert.deepEqual(files({ limits: { memory: '1M' } }), { 'memory.high': '897024' });
  assert.equal(files({}), undefined);
});

test('security: the container over the pod', () => {
  const { securityContext } = configOf(
    {
      securityContext: {
        runAsUser: 5,
        privileged: true,
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        procMount: 'Unmasked',
        capabilities: { add: ['NET_ADMIN'] },
        seccompProfile: { type: 'Localhost', localhostProfile: 'my/p.json' },
        appArmorProfile: { type: 'Localhost', localhostProfile: 'aa' },
      },
    },
    {
      securityContext: {
        runAsUser: 1,
        runAsGroup: 7,
        fsGroup: 9,
        supplementalGroups: [8],
        supplementalGroupsPolicy: 'Strict',
        seLinuxOptions: { type: 't' },
        seccompProfile: { type: 'RuntimeDefault' },
      },
      shareProcessNamespace: true,
    },
  ).linux;
  assert.deepEqual(securityContext, {
    privileged: true,
    namespaceOptions: { network: 0, pid: 0, ipc: 0 },
    readonlyRootfs: true,
    supplementalGroups: ['9', '8'],
    noNewPrivs: true,
    maskedPaths: [],
    readonlyPaths: [],
    seccomp: { profileType: 2, localhostRef: '/var/lib/kubelet/seccomp/my/p.json' },
    apparmor: { profileType: 2, localhostRef: 'aa' },
    supplementalGroupsPolicy: 1,
    capabilities: { addCapabilities: ['NET_ADMIN'], dropCapabilities: [] },
    selinuxOptions: { user: '', role: '', type: 't', level: '' },
    runAsGroup: { value: '7' },
    runAsUser: { value: '5' },
  });
  const seccomp = (spec: Spec, changes: Partial<NodeSettings> = {}): unknown =>
    configOf({}, spec, settingsWith(changes)).linux.securityContext.seccomp;
  assert.deepEqual(seccomp({ securityContext: { seccompProfile: { type: 'RuntimeDefault' } } }), { profileType: 0 });
  assert.deepEqual(seccomp({}, { seccompDefault: true }), { profileType: 0 });
  assert.match(
    messageOf({ securityContext: { seccompProfile: { type: 'Localhost' } } }),
    /^localhostProfile must be set/,
  );
});

test('AppArmor from the old annotation', () => {
  const input = { ...inputOf({}), ...settingsWith(CURRENT) };
  const key = 'container.apparmor.security.beta.kubernetes.io/c';
  const apparmor = (value: string): unknown => {
    const pod: Pod = { ...input.pod, metadata: { ...input.pod.metadata, annotations: { [key]: value } } };
    const made = containerConfig({ ...input, pod });
    if (!('config' in made)) return made.error;
    const { apparmor: profile, apparmorProfile: oldName } = made.config.linux.securityContext;
    assert.equal(oldName, profile && value, 'runtimes that know no profiles know it by its annotation');
    return profile;
  };
  assert.deepEqual(apparmor('localhost/x'), { profileType: 2, localhostRef: 'x' });
  assert.deepEqual(apparmor('runtime/default'), { profileType: 0 });
  assert.deepEqual(apparmor('unconfined'), { profileType: 1 });
  assert.equal(apparmor('nonsense'), undefined);
});

test('runAsNonRoot, in the kubelet’s words', () => {
  const nonRoot: Partial<Container> = { securityContext: { runAsNonRoot: true } };
  const image = (uid: number | null, username = ''): Partial<ContainerConfigInput> => ({
    image: { imageRef: 'r', uid, username },
  });
  const where = '(pod: "web_shop(u-1)", container: c)';
  assert.equal(messageOf(nonRoot), `container has runAsNonRoot and image will run as root ${where}`);
  assert.equal(messageOf(nonRoot, {}, image(0)), `container has runAsNonRoot and image will run as root ${where}`);
  assert.equal(
    messageOf(nonRoot, {}, image(null, 'app')),
    `container has runAsNonRoot and image has non-numeric user (app), cannot verify user is non-root ${where}`,
  );
  assert.equal(
    messageOf({}, { securityContext: { runAsNonRoot: true, runAsUser: 0 } }),
    `container's runAsUser breaks non-root policy ${where}`,
  );
  assert.deepEqual(configOf(nonRoot, {}, image(33)).linux.securityContext.runAsUser, { value: '33' });
  const named = configOf({}, {}, image(null, 'app')).linux.securityContext;
  assert.deepEqual([named.runAsUser, named.runAsUsername], [undefined, 'app']);
});

test('last words, and a volume whose path has no root, are mounted at the shortest form of the path', () => {
  const paths = (terminationMessagePath: string, changes: Partial<NodeSettings>) => {
    const volumeMounts = [
      { name: 'data', mountPath: 'a/./b/' },
      { name: 'data', mountPath: '/as//written/' },
    ];
    const config = configOf({ terminationMessagePath, volumeMounts }, {}, settingsWith(changes));
    assert.equal(config.annotations['io.kubernetes.container.terminationMessagePath'], terminationMessagePath);
    return config.mounts.map(({ containerPath }) => containerPath).filter((path) => path !== '/etc/hosts');
  };
  for (const written of ['tmp/words', '//tmp//words', '/tmp/words/', '/tmp/x/../words'])
    assert.deepEqual(paths(written, CURRENT), ['/a/b', '/as//written/', '/tmp/words']);
  assert.deepEqual(paths('tmp/words/', {}), ['/a/./b/', '/as//written/', '/tmp/words/'], 'as logs of before have it');
});

test('mounts: propagation, read-only, sub paths, /etc/hosts', () => {
  const container: Partial<Container> = {
    env: [{ name: 'WHO', value: 'me' }],
    terminationMessagePath: '/tm',
    volumeMounts: [
      { name: 'data', mountPath: 'rel', mountPropagation: 'HostToContainer' },
      { name: 'data', mountPath: '/sub', subPathExpr: 'x/$(WHO)', readOnly: true, recursiveReadOnly: 'IfPossible' },
      { name: 'info', mountPath: '/info' },
      { name: 'data', mountPath: '/etc/hosts' },
    ],
  };
  const spec: Spec = {
    volumes: [
      { name: 'data', emptyDir: {} },
      { name: 'info', downwardAPI: {} },
    ],
  };
  const more = {
    subPaths: { 'data/c/1': '/pods/u-1/volume-subpaths/data/c/1' },
    settings: nodeSettings({
      runtimeFeatures: { recursiveReadOnlyMounts: true, userNamespaces: false, supplementalGroupsPolicy: false },
    }),
  };
  const { mounts } = configOf(container, spec, more);
  assert.deepEqual(
    mounts.map((m) => [m.containerPath, m.hostPath, m.readonly, m.propagation, m.recursiveReadOnly ?? false]),
    [
      ['/rel', '/pods/u-1/volumes/data', false, 1, false],
      ['/sub', '/pods/u-1/volume-subpaths/data/c/1', true, 0, true],
      ['/info', '/pods/u-1/volumes/info', true, 0, false],
      ['/etc/hosts', '/pods/u-1/volumes/data', false, 0, false],
      ['/tm', '/pods/u-1/containers/c/log', false, 0, false],
    ],
  );
  const only = (mount: NonNullable<Container['volumeMounts']>[number]): string => messageOf({ volumeMounts: [mount] });
  assert.equal(
    only({ name: 'constructor', mountPath: '/x' }),
    'cannot find volume "constructor" to mount into container "c"',
  );
  assert.equal(
    only({ name: 'data', mountPath: '/x', subPath: '/a' }),
    'error SubPath `/a` must not be an absolute path',
  );
  assert.equal(
    only({ name: 'data', mountPath: '/x', subPath: 'a/../b' }),
    "unable to provision SubPath `a/../b`: must not contain '..'",
  );
  assert.equal(only({ name: 'data', mountPath: '/x', subPathExpr: '$(B)$(A)' }), 'missing value for A, B');
  assert.equal(
    only({ name: 'data', mountPath: '/x', mountPropagation: 'Odd' }),
    'invalid MountPropagation mode: "Odd"',
  );
  assert.equal(
    only({ name: 'data', mountPath: '/x', readOnly: true, recursiveReadOnly: 'Enabled' }),
    'failed to resolve recursive read-only mode: volume "data" requested recursive read-only mode, but it is not supported by the runtime',
  );
  assert.equal(
    messageOf({ volumeDevices: [{ name: 'constructor', devicePath: '/d' }] }),
    'cannot find volume "constructor" to pass into container "c"',
  );
});

test('a block volume has an absolute path in its container; in journals from before, any', () => {
  const devices = { volumeDevices: [{ name: 'data', devicePath: 'dev/xvda' }] };
  assert.equal(messageOf(devices, {}, settingsWith(CURRENT)), 'error DevicePath `dev/xvda` must be an absolute path');
  assert.deepEqual(configOf(devices).devices, [
    { containerPath: 'dev/xvda', hostPath: '/pods/u-1/volumes/data', permissions: 'mrw' },
  ]);
});

test('no hosts file before the pod has an address, but always on the host network', () => {
  const paths = (config: ContainerConfig): string[] => config.mounts.map((m) => m.containerPath);
  assert.deepEqual(paths(configOf({}, {}, { podIPs: [] })), ['/dev/termination-log']);
  assert.deepEqual(paths(configOf({}, { hostNetwork: true }, { podIPs: [] })), ['/etc/hosts', '/dev/termination-log']);
});

test('an ephemeral container joins its target’s processes', () => {
  const more: Partial<ContainerConfigInput> = { kind: 'ephemeral', targetId: 'id-1' };
  assert.deepEqual(configOf({}, {}, more).linux.securityContext.namespaceOptions, {
    network: 0,
    pid: 3,
    ipc: 0,
    targetId: 'id-1',
  });
  assert.equal(configOf({}, { shareProcessNamespace: true }, more).linux.securityContext.namespaceOptions.pid, 0);
});

test('stop signals have their CRI numbers and count where their gate is on; in journals from before it, always', () => {
  const own = { lifecycle: { stopSignal: 'SIGUSR1' } };
  const signal = (settings: Partial<NodeSettings>) =>
    configOf(own, {}, { settings: { ...nodeSettings(), ...settings } }).stopSignal;
  assert.equal(signal({ ...CURRENT, stopSignals: true }), 29);
  assert.equal(signal(CURRENT), undefined);
  assert.equal(signal({ behaviour: [] }), 29);
  const names = ['SIGTERM', 'SIGKILL', 'SIGRTMIN+15', 'SIGRTMAX-14', 'SIGRTMAX', 'SIGNONE', 'constructor'];
  assert.deepEqual(names.map(stopSignalNumber), [23, 13, 50, 51, 65, 0, 0]);
  assert.deepEqual(names.map(stopSignalNumber).map(stopSignalName), [...names.slice(0, 5), undefined, undefined]);
});
