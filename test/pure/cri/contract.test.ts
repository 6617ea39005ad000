import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { imageRequests, isRepeatable, runtimeRequests } from '../../../cri/client/methods.ts';
import {
  ContainerConfig,
  ContainerEventResponse,
  ImageServiceService,
  PodSandboxConfig,
  RuntimeServiceService,
  Signal,
} from '../../../cri/generated/runtime/v1/api.ts';
import type { DeepPartial } from '../../../cri/generated/runtime/v1/api.ts';
import type { ContainerConfig as ContainerShape, SandboxConfig } from '../../../machines/protocol/cri-shapes.ts';
import { CriSignal } from '../../../machines/protocol/cri-signal.ts';

/** These lines compile only while the machines' shapes fit the contract. */
function fits(container: ContainerShape, sandbox: SandboxConfig) {
  const wholeContainer: DeepPartial<ContainerConfig> = container;
  const wholeSandbox: DeepPartial<PodSandboxConfig> = sandbox;
  return { wholeContainer, wholeSandbox };
}

const sandboxShape: SandboxConfig = {
  metadata: { name: 'web', uid: 'u1', namespace: 'default', attempt: 2 },
  hostname: 'web',
  logDirectory: '/var/log/pods/default_web_u1',
  dnsConfig: { servers: ['10.96.0.10'], searches: ['cluster.local'], options: ['ndots:5'] },
  portMappings: [{ protocol: 1, containerPort: 53, hostPort: 5353, hostIp: '' }],
  labels: { a: 'b' },
  annotations: { c: 'd' },
  linux: {
    cgroupParent: '/kubepods/podu1',
    securityContext: {
      namespaceOptions: { network: 0, pid: 1, ipc: 0 },
      runAsUser: { value: '0' },
      supplementalGroups: ['1000'],
    },
    sysctls: { 'net.ipv4.ip_unprivileged_port_start': '0' },
  },
};

const containerShape: ContainerShape = {
  metadata: { name: 'main', attempt: 1 },
  image: { image: 'sha256:0', userSpecifiedImage: 'busybox:latest' },
  command: ['/bin/sh'],
  args: ['-c', 'true'],
  workingDir: '/',
  envs: [{ key: 'A', value: 'ü' }],
  mounts: [{ containerPath: '/x', hostPath: '/y', readonly: true, selinuxRelabel: false, propagation: 1 }],
  devices: [{ containerPath: '/dev/null', hostPath: '/dev/null', permissions: 'rwm' }],
  labels: {},
  annotations: {},
  logPath: 'main/0.log',
  stdin: false,
  stdinOnce: false,
  tty: true,
  stopSignal: 23,
  linux: {
    resources: {
      cpuShares: '1024',
      memoryLimitInBytes: '134217728',
      hugepageLimits: [{ pageSize: '2MB', limit: '1' }],
    },
    securityContext: {
      privileged: false,
      namespaceOptions: { network: 0, pid: 3, ipc: 0, targetId: 'abc' },
      readonlyRootfs: true,
      supplementalGroups: [],
      noNewPrivs: true,
      maskedPaths: ['/proc/kcore'],
      readonlyPaths: [],
      seccomp: { profileType: 0 },
    },
  },
};

test('what the machines ask for arrives whole at the other side of the wire', () => {
  const { wholeContainer, wholeSandbox } = fits(containerShape, sandboxShape);
  const container = ContainerConfig.decode(
    ContainerConfig.encode(ContainerConfig.fromPartial(wholeContainer)).finish(),
  );
  const sandbox = PodSandboxConfig.decode(PodSandboxConfig.encode(PodSandboxConfig.fromPartial(wholeSandbox)).finish());
  // Everything asked for is there; the rest are protobuf defaults.
  assert.partialDeepStrictEqual(container, containerShape);
  assert.partialDeepStrictEqual(sandbox, sandboxShape);
});

test('64-bit integers survive as decimal strings', () => {
  fc.assert(
    fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (createdAt) => {
      const sent = ContainerEventResponse.fromPartial({ createdAt: createdAt.toString() });
      const got = ContainerEventResponse.decode(ContainerEventResponse.encode(sent).finish());
      assert.equal(got.createdAt, createdAt.toString());
    }),
  );
});

test('the client has a call for each method of the contract but the event stream', () => {
  const runtime = Object.keys(RuntimeServiceService).filter((name) => name !== 'getContainerEvents');
  assert.deepEqual(Object.keys(runtimeRequests), runtime);
  assert.deepEqual(Object.keys(imageRequests), Object.keys(ImageServiceService));
  assert.equal(runtime.length, 29);
});

test('only what the runtime may safely see twice is repeated', () => {
  for (const name of ['version', 'listContainers', 'stopContainer', 'removePodSandbox', 'pullImage'] as const)
    assert.equal(isRepeatable(name), true, name);
  for (const name of ['runPodSandbox', 'createContainer', 'startContainer', 'execSync'] as const)
    assert.equal(isRepeatable(name), false, name);
});

test('the machines count stop signals as the contract does', () => {
  assert.deepEqual({ ...CriSignal }, { ...Signal });
});
