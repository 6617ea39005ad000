import type { NodeFacts } from '../../../machines/node-object/set-node-status.ts';
import type { NodeObjectConfig } from '../../../machines/node-object/node-types.ts';
import { runtimeHealthOf } from '../../../machines/node-object/ready-message.ts';

/** A runtime that says that all is well. */
export const well = runtimeHealthOf({
  state: 'answered',
  conditions: [
    { type: 'RuntimeReady', status: true, reason: '', message: '' },
    { type: 'NetworkReady', status: true, reason: '', message: '' },
  ],
});

/** Settings like those with which the reference kubelet was looked at on this kind of machine. */
export function configOf(change: Partial<NodeObjectConfig> = {}): NodeObjectConfig {
  return {
    nodeName: 'node1',
    labels: { a: 'b' },
    taints: [],
    externalCloudProvider: false,
    providerID: '',
    enableControllerAttachDetach: true,
    maxPods: 110,
    podsPerCore: 0,
    kubeReserved: { cpu: '100m', memory: '100Mi' },
    systemReserved: { 'ephemeral-storage': '1Gi' },
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '10%' },
    localStorageCapacityIsolation: true,
    nodeStatusMaxImages: 50,
    port: 10250,
    kubeletVersion: 'v1.35.4-actorlet',
    ...change,
  };
}

/** Facts of a machine of two cores with a runtime that is ready. */
export function factsOf(change: Partial<NodeFacts> = {}): NodeFacts {
  return {
    machine: {
      machineID: 'm1',
      systemUUID: 'u1',
      bootID: 'b1',
      kernelVersion: '6.1',
      osImage: 'Debian GNU/Linux 12 (bookworm)',
      operatingSystem: 'linux',
      architecture: 'amd64',
      cores: 2,
      memoryBytes: 24684100 * 1024,
      swapBytes: 0,
      ephemeralStorageBytes: 264212084 * 1024,
      hugePages: [
        { pageBytes: 1 << 30, pages: 0 },
        { pageBytes: 2 << 20, pages: 0 },
      ],
    },
    runtime: {
      name: 'containerd',
      version: '1.6.20~ds1',
      handlers: [{ name: '', recursiveReadOnlyMounts: true, userNamespaces: false }],
      supplementalGroupsPolicy: true,
      images: [],
    },
    addresses: { hostname: 'node1', externalCloudProvider: false, given: [], found: '192.0.2.2' },
    readiness: { runtime: well, plegError: null },
    pressure: { memory: false, disk: false, pid: false },
    ...change,
  };
}
