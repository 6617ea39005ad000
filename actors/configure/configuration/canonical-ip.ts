import { isIP, SocketAddress } from 'node:net';

/** The form in which addresses are compared and told, undefined when the text is no IP address. Octets may have leading zeros, as in Go. */
export function canonicalIp(text: string): string | undefined {
  const sloppy = /^\d+(\.\d+){3}$/.test(text) ? text.split('.').map(Number).join('.') : text;
  const family = isIP(sloppy);
  if (family === 0) return undefined;
  return family === 4 ? sloppy : new SocketAddress({ address: sloppy, family: 'ipv6' }).address;
}
