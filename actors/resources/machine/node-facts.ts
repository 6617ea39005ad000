import { readFileSync, readdirSync } from 'node:fs';
import { hostname, networkInterfaces } from 'node:os';
import { join } from 'node:path';
import type { HostResolver } from '../../../machines/protocol/node-settings.ts';
import { parseResolvConf } from '../../../machines/sandbox-config/resolv-conf.ts';

/** The machine's name as kubelet uses it: the override or the host name, trimmed and in lower case. */
export function nodeNameOf(override: string): string {
  return (override === '' ? hostname() : override).trim().toLowerCase();
}

/** The first global address of each family on the machine's interfaces, else loopback. */
export function interfaceAddresses(): string[] {
  const all = Object.entries(networkInterfaces())
    .filter(([name]) => !/^(lo|cni|veth|docker|br-|virbr|actorlet)/.test(name))
    .flatMap(([, list]) => list ?? [])
    .filter((a) => !a.internal && !a.address.startsWith('fe80'));
  const v4 = all.find((a) => a.family === 'IPv4')?.address;
  const v6 = all.find((a) => a.family === 'IPv6')?.address;
  const found = [v4, v6].filter((a) => a !== undefined);
  return found.length > 0 ? found : ['127.0.0.1'];
}

/** A resolver file, parsed (`resolvConf`); one that cannot be read or parsed gives nothing. */
export function resolverOf(path: string): HostResolver {
  const parsed = parseResolvConf(path === '' ? '' : readText(path));
  return 'error' in parsed ? { nameservers: [], searches: [], options: [] } : parsed;
}

/** A huge page size as the kernel names it in cgroup files (`2MB`, `1GB`). */
export function hugePageName(bytes: number): string {
  const kib = bytes / 1024;
  return kib >= 1 << 20 ? `${kib >> 20}GB` : kib >= 1024 ? `${kib >> 10}MB` : `${kib}KB`;
}

/** Paths to mask on machines whose CPUs tell of their throttling. */
export function thermalPaths(): string[] {
  const base = '/sys/devices/system/cpu';
  try {
    return readdirSync(base)
      .filter((name) => /^cpu\d+$/.test(name) && readdirSync(join(base, name)).includes('thermal_throttle'))
      .map((name) => join(base, name, 'thermal_throttle'));
  } catch {
    return [];
  }
}

/** A file's text, '' when it cannot be read. */
export function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
