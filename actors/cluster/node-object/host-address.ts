import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { isOnQuietInterface } from './quiet-addresses.ts';
import { readText } from '../../resources/machine/node-facts.ts';

const NEVER_GLOBAL = new BlockList();
NEVER_GLOBAL.addSubnet('127.0.0.0', 8);
NEVER_GLOBAL.addSubnet('169.254.0.0', 16);
NEVER_GLOBAL.addSubnet('224.0.0.0', 4);
NEVER_GLOBAL.addAddress('0.0.0.0');
NEVER_GLOBAL.addAddress('255.255.255.255');
NEVER_GLOBAL.addAddress('::', 'ipv6');
NEVER_GLOBAL.addAddress('::1', 'ipv6');
NEVER_GLOBAL.addSubnet('fe80::', 10, 'ipv6');
NEVER_GLOBAL.addSubnet('ff00::', 8, 'ipv6');

/** Longest wait for a name server, ms: a node must be able to tell that it is not ready while DNS is away. */
const LOOKUP_MS = 1_000;

function family(ip: string): 'ipv4' | 'ipv6' {
  return isIP(ip) === 6 ? 'ipv6' : 'ipv4';
}

function isGlobal(ip: string): boolean {
  return !NEVER_GLOBAL.check(ip, family(ip));
}

/** Why an address cannot be this node's; null when it can: it is on one of the machine's interfaces. */
export function nodeAddressProblem(ip: string): string | null {
  if (isIP(ip) === 0) return 'is no IP address';
  if (!isGlobal(ip)) return 'is a loopback, link-local, multicast or unspecified address';
  const own = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  if (own.some((a) => a.address === ip) || isOnQuietInterface(ip)) return null;
  return "is on none of the host's network interfaces";
}

/**
 * The node's address when none is given: the host name itself if it is one, what DNS knows of it if it is on this
 * machine, else that of the interface of the default route. IPv4 first unless `::` was given. null: none found.
 * While DNS does not answer it stays what it was (`before`): a node does not change its address for that.
 */
export async function findHostAddress(
  hostname: string,
  given: readonly string[],
  before: string | null = null,
  resolve: (name: string) => Promise<readonly { address: string }[]> = (name) => lookup(name, { all: true }),
): Promise<string | null> {
  if (isIP(hostname) !== 0) return hostname;
  const families: ('ipv4' | 'ipv6')[] =
    given[0] !== undefined && isIP(given[0]) === 6 ? ['ipv6', 'ipv4'] : ['ipv4', 'ipv6'];
  const answer = resolve(hostname).catch(() => []);
  const known = await Promise.race([answer, sleep(LOOKUP_MS, null, { ref: false })]);
  if (known === null && before !== null) return before;
  const usable = (known ?? []).map((a) => a.address).filter((ip) => nodeAddressProblem(ip) === null);
  const named = families.flatMap((wanted) => usable.filter((ip) => family(ip) === wanted))[0];
  if (named !== undefined) return named;
  for (const wanted of families) {
    for (const name of defaultRouteInterfaces(wanted)) {
      // Networks whose interfaces have link-local addresses only keep the global one on `lo` (RFC 5549).
      const found = globalOf(name, wanted) ?? globalOf('lo', wanted);
      if (found !== undefined) return found;
    }
  }
  // No default route at all: any interface will do (chooseIPFromHostInterfaces).
  for (const wanted of families) {
    for (const name of Object.keys(networkInterfaces()).filter((n) => n !== 'lo')) {
      const found = globalOf(name, wanted);
      if (found !== undefined) return found;
    }
  }
  return null;
}

function globalOf(name: string, wanted: 'ipv4' | 'ipv6'): string | undefined {
  return networkInterfaces()[name]?.find((a) => family(a.address) === wanted && isGlobal(a.address))?.address;
}

/** Interfaces of the default routes, in the order of the kernel's table. */
function defaultRouteInterfaces(wanted: 'ipv4' | 'ipv6'): string[] {
  return wanted === 'ipv4' ? ipv4Defaults(readText('/proc/net/route')) : ipv6Defaults(readText('/proc/net/ipv6_route'));
}

/** Default routes of `/proc/net/route`: destination and mask are zero and the route is up. */
function ipv4Defaults(table: string): string[] {
  return table.split('\n').flatMap((line) => {
    const [name, destination, , flags, , , , mask] = line.split(/\s+/);
    const up = (Number.parseInt(flags ?? '0', 16) & 1) === 1;
    return name !== undefined && destination === '00000000' && mask === '00000000' && up ? [name] : [];
  });
}

/** Default routes of `/proc/net/ipv6_route`, without those that reject and those on `lo`. */
function ipv6Defaults(table: string): string[] {
  return table.split('\n').flatMap((line) => {
    const [destination, prefix, , , , , , , flags, name] = line.trim().split(/\s+/);
    const bits = Number.parseInt(flags ?? '0', 16);
    const usable = (bits & 1) === 1 && (bits & 0x200) === 0;
    return /^0+$/.test(destination ?? '') && prefix === '00' && name !== undefined && name !== 'lo' && usable
      ? [name]
      : [];
  });
}
