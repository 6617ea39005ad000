/** One driver in `CSINode.spec.drivers`. */
export interface NodeDriver {
  name: string;
  nodeID: string;
  /** Sorted. */
  topologyKeys?: string[] | null;
  allocatable?: { count?: number } | null;
  [other: string]: unknown;
}

/** What a driver says of its node (`NodeGetInfo`). */
export interface DriverNodeInfo {
  nodeId: string;
  /** How many of its volumes the node can hold; 0: it does not say. A 64-bit number as text. */
  maxVolumes: string;
  /** Labels of the place where the node is. */
  topology: Record<string, string>;
}

/** Annotation of the node: JSON of the drivers' names with the node's id in each. */
export const NODE_ID_ANNOTATION = 'csi.volume.kubernetes.io/nodeid';

const MOST = 2 ** 31 - 1;

/** The drivers of a CSINode with this one as it is now, at the end as kubelet has it; null when it is there and right. */
export function withDriver(
  drivers: readonly NodeDriver[],
  name: string,
  { nodeId, maxVolumes, topology }: DriverNodeInfo,
): NodeDriver[] | null {
  const keys = Object.keys(topology).sort();
  const count = Number(maxVolumes);
  const before = drivers.find((driver) => driver.name === name);
  if (before !== undefined && before.nodeID === nodeId && sameKeys(before.topologyKeys ?? [], keys)) {
    const told = before.allocatable?.count;
    if (count === 0 ? told === undefined : told === count) return null;
  }
  const driver: NodeDriver = { name, nodeID: nodeId, topologyKeys: keys };
  if (count > 0) driver.allocatable = { count: Math.min(count, MOST) };
  return [...drivers.filter((other) => other.name !== name), driver];
}

/** The drivers without this one; null when it is not among them. */
export function withoutDriver(drivers: readonly NodeDriver[], name: string): NodeDriver[] | null {
  const rest = drivers.filter((driver) => driver.name !== name);
  return rest.length === drivers.length ? null : rest;
}

/** What of a node's object a driver changes. */
export interface NodeMarks {
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
}

/**
 * What is to be merged into the metadata of a node for a driver that came; null when it is all there. Throws, in kubelet's words, when a label
 * has another value or the annotation is no JSON.
 */
export function markDriver(
  marks: NodeMarks,
  name: string,
  { nodeId, topology }: Pick<DriverNodeInfo, 'nodeId' | 'topology'>,
): NodeMarks | null {
  const change: NodeMarks = {};
  const ids = nodeIds(marks);
  if (ids.get(name) !== nodeId) change.annotations = { [NODE_ID_ANNOTATION]: idsText(ids.set(name, nodeId)) };
  for (const [key, value] of Object.entries(topology)) {
    const has = Object.hasOwn(marks.labels ?? {}, key) ? marks.labels?.[key] : undefined;
    if (has !== undefined && has !== value)
      throw new Error(
        `detected topology value collision: driver reported "${key}":"${value}" but existing label is "${key}":"${has}"`,
      );
    if (has === undefined) (change.labels ??= {})[key] = value;
  }
  return change.annotations === undefined && change.labels === undefined ? null : change;
}

/** The same for a driver that went: null is a field that goes. Its labels stay, as with kubelet. */
export function unmarkDriver(marks: NodeMarks, name: string): { annotations: Record<string, string | null> } | null {
  const ids = nodeIds(marks);
  if (!ids.delete(name)) return null;
  const text = ids.size === 0 ? null : idsText(ids);
  return { annotations: { [NODE_ID_ANNOTATION]: text } };
}

/** Drivers' names and what each calls the node. */
function nodeIds({ annotations = {} }: NodeMarks): Map<string, string> {
  const text = annotations[NODE_ID_ANNOTATION] ?? '';
  if (text === '') return new Map();
  let ids: unknown;
  try {
    ids = JSON.parse(text);
  } catch (error) {
    throw new Error(
      `failed to parse node's "${NODE_ID_ANNOTATION}" annotation value (${JSON.stringify(text)}) err=${(error as Error).message}`,
      { cause: error },
    );
  }
  if (ids === null || typeof ids !== 'object' || Array.isArray(ids)) return new Map();
  return new Map(Object.entries(ids).filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

function idsText(ids: ReadonlyMap<string, string>): string {
  return JSON.stringify(Object.fromEntries([...ids].sort(([a], [b]) => (a < b ? -1 : 1))));
}

function sameKeys(before: readonly string[], keys: readonly string[]): boolean {
  const had = new Set(before);
  return had.size === keys.length && keys.every((key) => had.has(key));
}
