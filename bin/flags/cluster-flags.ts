import type { FlagSpec } from './flag-spec.ts';

/** The way to an API server. */
export const clusterFlags: readonly FlagSpec[] = [
  {
    name: 'kubeconfig',
    kind: 'string',
    group: 'Cluster',
    usage: 'how to reach the API server; without it the agent is standalone',
  },
  {
    name: 'bootstrap-kubeconfig',
    kind: 'string',
    group: 'Cluster',
    usage: 'kubeconfig to ask for a client certificate with',
  },
  {
    name: 'register-node',
    kind: 'bool',
    group: 'Cluster',
    field: 'registerNode',
    preset: 'true',
    deprecated: 'file',
    usage: 'register the node with the API server',
  },
  {
    name: 'register-with-taints',
    kind: 'taints',
    group: 'Cluster',
    field: 'registerWithTaints',
    deprecated: 'file',
    usage: 'taints to register the node with, as key=value:effect',
  },
  {
    name: 'cloud-provider',
    kind: 'string',
    group: 'Cluster',
    usage: '"external" when a cloud controller fills in the node, else empty',
  },
];
