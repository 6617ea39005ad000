import { compareQuantities } from '../values/quantity.ts';
import { ATTACH_DETACH_ANNOTATION } from './initial-node.ts';
import { isHugePages } from './node-resources.ts';
import { isExtendedResource } from '../values/extended-resource.ts';
import type { Resources } from './node-resources.ts';
import type { Node } from './node-types.ts';

/** Labels that a restarted node puts right; of all others the object's own values count. */
const DEFAULT_LABELS = [
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'node.kubernetes.io/windows-build',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
];

/**
 * An existing node object as the registration of a restarted node leaves it: default labels, the attach-detach
 * annotation, huge pages, and on a machine that is new extended resources at zero until a device plugin tells them again. On
 * one that is not, pods may have them already. `existing` is left as it is.
 */
export function reconcileNode(initial: Node, existing: Node, machineIsNew: boolean): Node {
  return {
    ...existing,
    metadata: {
      ...existing.metadata,
      labels: labelsOf(initial, existing),
      annotations: annotationsOf(initial, existing),
    },
    status: { ...existing.status, ...resourcesOf(initial, existing, machineIsNew) },
  };
}

function labelsOf(initial: Node, existing: Node): Record<string, string> {
  const labels = { ...existing.metadata?.labels };
  for (const name of DEFAULT_LABELS) {
    const value = initial.metadata?.labels?.[name];
    if (value === undefined) continue;
    if (value === '') Reflect.deleteProperty(labels, name);
    else labels[name] = value;
  }
  return labels;
}

function annotationsOf(initial: Node, existing: Node): Record<string, string> {
  const annotations = { ...existing.metadata?.annotations };
  const wanted = initial.metadata?.annotations?.[ATTACH_DETACH_ANNOTATION];
  if (wanted === undefined) Reflect.deleteProperty(annotations, ATTACH_DETACH_ANNOTATION);
  else annotations[ATTACH_DETACH_ANNOTATION] = wanted;
  return annotations;
}

function resourcesOf(
  initial: Node,
  existing: Node,
  machineIsNew: boolean,
): { capacity: Resources; allocatable: Resources } {
  const fresh = { capacity: initial.status?.capacity ?? {}, allocatable: initial.status?.allocatable ?? {} };
  const capacity = { ...(existing.status?.capacity ?? fresh.capacity) };
  const allocatable = { ...(existing.status?.allocatable ?? fresh.allocatable) };
  for (const name of Object.keys(capacity)) {
    if (machineIsNew && isExtendedResource(name)) {
      capacity[name] = '0';
      allocatable[name] = '0';
    }
    if (isHugePages(name) && !(name in fresh.capacity)) {
      Reflect.deleteProperty(capacity, name);
      Reflect.deleteProperty(allocatable, name);
    }
  }
  for (const [name, quantity] of Object.entries(fresh.capacity).filter(([n]) => isHugePages(n))) {
    const free = fresh.allocatable[name] ?? '0';
    if (!same(capacity[name], quantity)) capacity[name] = quantity;
    if (!same(allocatable[name], free)) allocatable[name] = free;
  }
  return { capacity, allocatable };
}

function same(a: string | undefined, b: string): boolean {
  return a !== undefined && compareQuantities(a, b) === 0;
}
