import { readFileSync, readdirSync, statfsSync } from 'node:fs';
import { cpus, hostname, networkInterfaces, totalmem } from 'node:os';
import { join } from 'node:path';

/** The machine's name as kubelet uses it: the override or the host name, trimmed and in lower case. */
export function nodeNameOf(override: string): string {
  return (override === '' ? hostname() : override).trim().toLowerCase();
}

/** Addresses of the node: those that were given, else the first global one of each family, else loopback. */
export function nodeIPsOf(given: readonly string[]): string[] {
  if (given.length > 0) return [...given];
  const all = Object.entries(networkInterfaces())
    .filter(([name]) => !/^(lo|cni|veth|docker|br-|virbr|actorlet)/.test(name))
    .flatMap(([, list]) => list ?? [])
    .filter((a) => !a.internal && !a.address.startsWith('fe80'));
  const v4 = all.find((a) => a.family === 'IPv4')?.address;
  const v6 = all.find((a) => a.family === 'IPv6')?.address;
  const found = [v4, v6].filter((a) => a !== undefined);
  return found.length > 0 ? found : ['127.0.0.1'];
}

/** Capacity of the machine; ephemeral storage is that of the file system of `rootDir`. */
export function capacityOf(rootDir: string): { cpuMilli: number; memoryBytes: number; ephemeralStorageBytes: number } {
  const fs = statfsSync(rootDir);
  return { cpuMilli: cpus().length * 1000, memoryBytes: totalmem(), ephemeralStorageBytes: fs.blocks * fs.bsize };
}

/** A resolver file, parsed (`resolvConf`); an unreadable one gives nothing. */
export function resolverOf(path: string): { nameservers: string[]; searches: string[]; options: string[] } {
  const out: { nameservers: string[]; searches: string[]; options: string[] } = {
    nameservers: [],
    searches: [],
    options: [],
  };
  for (const line of readText(path).split('\n')) {
    const [word, ...rest] = line.trim().split(/\s+/);
    if (word === 'nameserver' && rest[0] !== undefined) out.nameservers.push(rest[0]);
    if (word === 'search') out.searches = rest.filter((s) => s !== '.');
    if (word === 'options') out.options.push(...rest);
  }
  return out;
}

/** Huge page sizes as the kernel names them in cgroup files (`2MB`, `1GB`). */
export function hugePageSizes(): string[] {
  try {
    return readdirSync('/sys/kernel/mm/hugepages').map((name) => {
      const kb = Number(/hugepages-(\d+)kB/.exec(name)?.[1] ?? 0);
      return kb >= 1 << 20 ? `${kb >> 20}GB` : kb >= 1024 ? `${kb >> 10}MB` : `${kb}KB`;
    });
  } catch {
    return [];
  }
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
