import type { AdmissionInput } from '../../../machines/admission/admit-pod.ts';
import { NO_USAGE } from '../../../machines/admission/node-usage.ts';
import type { Node } from '../../../machines/node-object/node-types.ts';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import { nodeSettings } from '../qos/node-settings.ts';

/** A pod of one container that asks for nothing, waiting for its start. */
export function pod(name: string, spec: Partial<NonNullable<Pod['spec']>> = {}, metadata: Pod['metadata'] = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default', uid: `uid-${name}`, ...metadata },
    spec: { nodeName: 'node-1', containers: [container('main')], ...spec },
    status: { phase: 'Pending' },
  };
}

export function container(name: string, requests?: Record<string, string>, more: Partial<Container> = {}): Container {
  return { name, image: 'example.com/a:1', ...(requests ? { resources: { requests } } : {}), ...more };
}

/** 4 cores, 8Gi, 10Gi of ephemeral storage, two GPUs, 16Mi of huge pages, 5 pods. */
export function node(
  changes: { labels?: Record<string, string>; spec?: Node['spec']; status?: Node['status'] } = {},
): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: 'node-1',
      labels: { 'kubernetes.io/hostname': 'node-1', 'kubernetes.io/os': 'linux', ...changes.labels },
    },
    spec: changes.spec ?? {},
    status: {
      allocatable: {
        cpu: '4',
        memory: '8Gi',
        'ephemeral-storage': '10Gi',
        'example.com/gpu': '2',
        'hugepages-2Mi': '16Mi',
        pods: '5',
      },
      ...changes.status,
    },
  };
}

export function input(of: Pod, changes: Partial<AdmissionInput> = {}): AdmissionInput {
  return {
    pod: of,
    node: node(),
    settings: nodeSettings(),
    usage: NO_USAGE,
    allowedUnsafeSysctls: [],
    kernelVersion: '6.1.0-13-amd64',
    appArmorEnabled: false,
    maxPods: 110,
    os: 'linux',
    arch: 'amd64',
    ...changes,
  };
}
