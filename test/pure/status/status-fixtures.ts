import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../../../machines/protocol/observed.ts';
import type { StatusInput } from '../../../machines/status/status-input.ts';
import { nodeSettings } from '../qos/node-settings.ts';

/** 2026-01-01T00:00:00Z. */
export const AT = 1_767_225_600_000;

/** A container in the runtime, running unless told otherwise. */
export function seen(changes: Partial<ObservedContainer>): ObservedContainer {
  return {
    id: 'id',
    name: 'a',
    sandboxId: 's0',
    state: 'running',
    createdAt: AT - 2000,
    startedAt: AT - 1900,
    finishedAt: 0,
    exitCode: 0,
    reason: '',
    message: '',
    image: 'img',
    imageRef: 'sha256:x',
    imageId: 'sha256:x',
    logPath: '',
    hash: '',
    restartCount: 0,
    annotations: {},
    labels: {},
    ...changes,
  };
}

/** A pod in the runtime with one ready sandbox unless told otherwise. */
export function observedPod(
  containers: ObservedContainer[],
  sandboxes: Partial<ObservedSandbox>[] = [{}],
): ObservedPod {
  return {
    uid: 'u',
    name: 'p',
    namespace: 'n',
    at: AT,
    containers,
    sandboxes: sandboxes.map((changes, i) => ({
      id: `s${i}`,
      attempt: sandboxes.length - 1 - i,
      state: 'ready',
      createdAt: AT - 3000 - i,
      ips: ['10.0.0.5'],
      hostNetwork: false,
      runtimeHandler: '',
      labels: {},
      annotations: {},
      ...changes,
    })),
  };
}

/** Input for a status, of a pod that nothing is known of unless told otherwise. */
export function statusInput(changes: Partial<StatusInput>): StatusInput {
  return {
    pod: { spec: { containers: [] } },
    previous: null,
    observed: null,
    runtimeName: 'containerd',
    podIPs: ['10.0.0.5'],
    containers: {},
    at: AT,
    startedAt: AT - 10_000,
    settings: nodeSettings(),
    ...changes,
  };
}
