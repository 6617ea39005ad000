import { readText } from '../../resources/machine/node-facts.ts';

/**
 * Is an address on an interface that has no carrier (a cable that was pulled, a bridge without ports)? Node tells no address of those, kubelet has the
 * kernel's whole list (`net.InterfaceAddrs`) and keeps the node's address.
 */
export function isOnQuietInterface(ip: string): boolean {
  return addressesIn(readText('/proc/net/fib_trie'), readText('/proc/net/if_inet6')).has(spelled(ip));
}

/** The machine's own addresses as the kernel's tables have them: `/proc/net/fib_trie` (IPv4) and `/proc/net/if_inet6`. */
export function addressesIn(fibTrie: string, ifInet6: string): ReadonlySet<string> {
  const found = new Set<string>();
  let leaf = '';
  for (const line of fibTrie.split('\n')) {
    leaf = /\|-- (\S+)$/.exec(line)?.[1] ?? leaf;
    if (line.trim() === '/32 host LOCAL') found.add(leaf);
  }
  for (const line of ifInet6.split('\n')) {
    const digits = /^[0-9a-f]{32}/.exec(line)?.[0];
    if (digits !== undefined) found.add(spelled((digits.match(/.{4}/g) ?? []).join(':')));
  }
  return found;
}

/** An IPv6 address in its one short spelling; an IPv4 address as it is. */
function spelled(ip: string): string {
  return ip.includes(':') ? new URL(`http://[${ip}]`).hostname.slice(1, -1) : ip;
}
