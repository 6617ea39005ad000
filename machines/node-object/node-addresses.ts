import type { NodeStatus } from './node-types.ts';

/** `status.addresses`. */
export type NodeAddresses = NonNullable<NodeStatus['addresses']>;

/** Annotation by which a cloud controller learns the addresses of `--node-ip`. */
export const PROVIDED_IP_ANNOTATION = 'alpha.kubernetes.io/provided-node-ip';

/** What is known of the node's addresses. */
export interface AddressFacts {
  hostname: string;
  externalCloudProvider: boolean;
  /** `--node-ip`, in order; `0.0.0.0` and `::` stand for "find one of that family". */
  given: readonly string[];
  /** What was found on the machine when nothing fixed is given; null when there is none. */
  found: string | null;
  /** A given address is not of this machine: addresses and annotation stay as they are until it is. */
  unusable?: boolean;
}

/** Is it an address that says nothing but its family? */
function isUnspecified(ip: string): boolean {
  return ip === '0.0.0.0' || ip === '::';
}

/** The addresses of `--node-ip` that name one. */
export function fixedAddresses(given: readonly string[]): string[] {
  return given.slice(0, 2).filter((ip) => !isUnspecified(ip));
}

/** Value of the annotation for a cloud controller; undefined when there is to be none. */
export function providedAddresses(facts: AddressFacts): string | undefined {
  const first = facts.given[0];
  if (!facts.externalCloudProvider || first === undefined || isUnspecified(first)) return undefined;
  return fixedAddresses(facts.given).join(',');
}

/**
 * `status.addresses`. With an external cloud provider those that are there stay, since its controller writes them;
 * without `--node-ip` only the host name is told until then. null: no address is known, leave what there is.
 */
export function nodeAddresses(before: NodeAddresses, facts: AddressFacts): NodeAddresses | null {
  if (facts.unusable === true) return null;
  const name = { type: 'Hostname', address: facts.hostname };
  if (facts.externalCloudProvider) {
    if (before.length > 0) return before;
    if (facts.given.length === 0) return [name];
  }
  const first = facts.given[0];
  const fixed = fixedAddresses(facts.given);
  const internal = fixed.length === 2 ? fixed : [first === undefined || isUnspecified(first) ? facts.found : first];
  const known = internal.filter((address) => address !== null);
  if (known.length === 0) return null;
  return [...known.map((address) => ({ type: 'InternalIP', address })), name];
}
