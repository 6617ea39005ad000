import { ActorletError } from '../../machines/errors/define.ts';
import { runtimeErrors } from '../../machines/errors/runtime-errors.ts';

/** An IPv4 network as numbers. */
export interface Network4 {
  address: number;
  bits: number;
}

/** Reads `10.1.0.0/16` (or one address, as /32). Null when it is not IPv4. */
export function parseNetwork4(value: string): Network4 | null {
  const match = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/.exec(value);
  if (match === null) return null;
  const octets = match.slice(1, 5).map(Number);
  const bits = match[5] === undefined ? 32 : Number(match[5]);
  if (octets.some((octet) => octet > 255) || bits > 32) return null;
  return { address: octets.reduce((sum, octet) => sum * 256 + octet, 0), bits };
}

/** True when the two networks share an address. */
export function overlaps(a: Network4, b: Network4): boolean {
  const size = 2 ** (32 - Math.min(a.bits, b.bits));
  return Math.floor(a.address / size) === Math.floor(b.address / size);
}

/** Pod subnets in the order they are tried: those that few use first. A /20 has room for 4,000 pods. */
export const SUBNET_CANDIDATES: readonly string[] = [
  ...range(88, 120).map((n) => `10.${n}.0.0/20`),
  ...range(20, 31).map((n) => `172.${n}.240.0/20`),
  ...range(0, 15).map((n) => `192.168.${n * 16}.0/20`),
];

/**
 * The first candidate that overlaps none of `taken` (routes and addresses; text that is not IPv4 is skipped, and so is
 * the default route). `preferred` is tried first: the subnet of an earlier start. Throws RTM007 when none is free.
 */
export function chooseSubnet(taken: readonly string[], preferred?: string): string {
  const networks = taken.map(parseNetwork4).filter((n): n is Network4 => n !== null && n.bits > 0);
  const candidates = preferred === undefined ? SUBNET_CANDIDATES : [preferred, ...SUBNET_CANDIDATES];
  for (const candidate of candidates) {
    const wanted = parseNetwork4(candidate);
    if (wanted !== null && !networks.some((network) => overlaps(network, wanted))) return candidate;
  }
  throw new ActorletError(runtimeErrors.noFreeSubnet, { tried: `10.88.0.0/20 ... ${SUBNET_CANDIDATES.at(-1)}` });
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, i) => from + i);
}
