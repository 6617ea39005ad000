import { ActorletError } from '../../../../machines/errors/define.ts';
import { nodesErrors } from '../../../../machines/errors/nodes-errors.ts';
import type { NodeGroup, Profile } from './profile-schema.ts';

/** One node to be simulated. */
export interface PlannedNode {
  name: string;
  group: NodeGroup;
  /** Place among all nodes, from `first` on. */
  index: number;
  labels: Record<string, string>;
  zone: string | null;
  /** Addresses of its pods. */
  podCIDR: string;
}

/** What of the nodes this process has. */
export interface Share {
  count: number;
  /** Number of the first node, so that several processes have different ones. */
  first: number;
}

const ADDRESSES_OF_NODE = 256;

/**
 * The nodes that a profile makes of a number: first those of groups that say how many they have, then the rest by weight. A node's
 * name, zone and addresses depend on the profile and its number alone.
 * @throws ActorletError NDS005 when the range of the pods' addresses is too small
 */
export function planNodes(profile: Profile, { count, first }: Share): PlannedNode[] {
  const { groups, podCIDR } = profile;
  const [base, room] = rangeOf(podCIDR);
  if (first + count > room)
    throw new ActorletError(nodesErrors.rangeTooSmall, { what: 'podCIDR', range: podCIDR, room, count: first + count });
  const taken = new Map<string, number>();
  return groupsOf(groups, first + count)
    .map((group, index): PlannedNode => {
      const number = taken.get(group.name) ?? 0;
      taken.set(group.name, number + 1);
      const zone = group.zones?.[number % group.zones.length] ?? null;
      const name = `${group.name}-${number}`;
      const labels = {
        ...(group.region !== undefined && { 'topology.kubernetes.io/region': group.region }),
        ...(zone !== null && { 'topology.kubernetes.io/zone': zone }),
        ...group.labels,
      };
      return { name, group, index, labels, zone, podCIDR: `${addressOf(base + index * ADDRESSES_OF_NODE)}/24` };
    })
    .slice(first);
}

/** The group of each of so many nodes, mixed as the weights say: the group that is furthest behind its share comes next. */
function groupsOf(groups: readonly NodeGroup[], count: number): NodeGroup[] {
  const out: NodeGroup[] = [];
  for (const group of groups) for (let i = 0; i < (group.count ?? 0) && out.length < count; i++) out.push(group);
  const weighted = groups.filter((group) => group.count === undefined);
  if (weighted.length === 0) return out;
  const sum = weighted.reduce((total, { weight }) => total + weight, 0);
  const given = new Map<NodeGroup, number>();
  for (let made = 1; out.length < count; made++) {
    let next = weighted[0] as NodeGroup;
    let most = Number.NEGATIVE_INFINITY;
    for (const group of weighted) {
      const behind = (group.weight / sum) * made - (given.get(group) ?? 0);
      if (behind > most + 1e-9) [next, most] = [group, behind];
    }
    given.set(next, (given.get(next) ?? 0) + 1);
    out.push(next);
  }
  return out;
}

/** First address of an IPv4 range as a number, and how many /24 it has. */
export function rangeOf(cidr: string): [base: number, nodes: number] {
  const [address = '', prefix = '24'] = cidr.split('/');
  const size = 2 ** (32 - Number(prefix));
  const number = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return [Math.floor(number / size) * size, size / ADDRESSES_OF_NODE];
}

/** An IPv4 address as text. */
export function addressOf(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.');
}
