import { ContainerState, PodSandboxState } from '../../../../cri/generated/runtime/v1/api.ts';
import type { Container, PodSandbox } from '../../../../cri/generated/runtime/v1/api.ts';
import type { StreamRuntime } from '../../../../actors/serve/streaming/stream-requests.ts';
import type { Pod } from '../../../../machines/protocol/api-types.ts';

/** A pod `ns/web` with containers `app` and `shell` (with a terminal). */
export const webPod: Pod = {
  metadata: { name: 'web', namespace: 'ns', uid: 'uid-1' },
  spec: { containers: [{ name: 'app' }, { name: 'shell', tty: true, stdin: true }, { name: 'stopped' }] },
};

/** One call that a fake runtime got. */
export interface Call {
  method: string;
  request: object;
}

/** A runtime in which containers `app` and `shell` of {@link webPod} run, and which answers streams with `url`. */
export function fakeRuntime(
  url: () => string,
  over: Partial<StreamRuntime['runtime']> = {},
): {
  cri: StreamRuntime;
  calls: Call[];
} {
  const calls: Call[] = [];
  const stream = (method: string) => (request: object) => {
    calls.push({ method, request });
    return Promise.resolve({ url: url() });
  };
  const runtime: StreamRuntime['runtime'] = {
    listPodSandbox: () => Promise.resolve({ items: [sandbox('sandbox-1', 'uid-1', 5)] }),
    listContainers: () =>
      Promise.resolve({
        containers: [container('id-app', 'app', 'uid-1', 6), container('id-shell', 'shell', 'uid-1', 7)],
      }),
    exec: stream('exec'),
    attach: stream('attach'),
    portForward: stream('portForward'),
    execSync: (request) => {
      calls.push({ method: 'execSync', request });
      return Promise.resolve({ stdout: Buffer.from('out\n'), stderr: Buffer.from('err\n'), exitCode: 0 });
    },
    ...over,
  };
  return { cri: { runtime }, calls };
}

/** A ready sandbox of `ns/web`. */
export function sandbox(id: string, uid: string, createdAt: number): PodSandbox {
  return {
    id,
    metadata: { name: 'web', namespace: 'ns', uid, attempt: 0 },
    state: PodSandboxState.SANDBOX_READY,
    createdAt: String(createdAt),
    labels: labels(uid),
    annotations: {},
    runtimeHandler: '',
  };
}

/** A running container of `ns/web`. */
export function container(id: string, name: string, uid: string, createdAt: number): Container {
  return {
    id,
    podSandboxId: `sandbox of ${uid}`,
    metadata: { name, attempt: 0 },
    imageRef: '',
    imageId: '',
    state: ContainerState.CONTAINER_RUNNING,
    createdAt: String(createdAt),
    labels: { ...labels(uid), 'io.kubernetes.container.name': name },
    annotations: {},
  };
}

function labels(uid: string): Record<string, string> {
  return {
    'io.kubernetes.pod.name': 'web',
    'io.kubernetes.pod.namespace': 'ns',
    'io.kubernetes.pod.uid': uid,
  };
}
