import { readdirSync, statfsSync } from 'node:fs';
import { availableParallelism, cpus, release } from 'node:os';
import { join } from 'node:path';
import type { MachineFacts } from '../../../machines/node-object/node-types.ts';
import { readText } from './node-facts.ts';
import { trimmed } from '../../../machines/values/trim.ts';

const UUID_FILES = [
  '/sys/class/dmi/id/product_uuid',
  '/proc/device-tree/system-id',
  '/proc/device-tree/vm,uuid',
  '/etc/machine-id',
];

/** Reads what the node object tells of its machine, from the files that cAdvisor reads. `rootDir`: kubelet's root folder. */
export function readMachineFacts(rootDir: string): MachineFacts {
  const meminfo = readText('/proc/meminfo');
  return {
    machineID: firstText(['/etc/machine-id', '/var/lib/dbus/machine-id']),
    systemUUID: firstText(UUID_FILES),
    bootID: readText('/proc/sys/kernel/random/boot_id').trim(),
    kernelVersion: release(),
    osImage: osImage(),
    operatingSystem: process.platform,
    architecture: goArchitecture(process.arch),
    // The machine's processors, not those that this process may use.
    cores: cpus().length || availableParallelism(),
    memoryBytes: meminfoBytes(meminfo, 'MemTotal'),
    swapBytes: meminfoBytes(meminfo, 'SwapTotal'),
    ephemeralStorageBytes: sizeOf(rootDir),
    hugePages: hugePages('/sys/kernel/mm/hugepages'),
  };
}

/** A line of /proc/meminfo in bytes, 0 when there is none. */
export function meminfoBytes(meminfo: string, name: string): number {
  const line = meminfo.split('\n').find((text) => text.startsWith(`${name}:`));
  return Number(/: *(\d+) kB/.exec(line ?? '')?.[1] ?? 0) * 1024;
}

function firstText(files: readonly string[]): string {
  for (const file of files) {
    const text = readText(file).replaceAll('\0', '').trim();
    if (text !== '') return text;
  }
  return '';
}

function osImage(): string {
  const text = readText('/etc/os-release') || readText('/usr/lib/os-release');
  if (text === '') return 'Unknown';
  return trimmed(/PRETTY_NAME=(.*)/.exec(text)?.[1] ?? 'Linux', '"');
}

/** Go's name of an architecture that Node names. */
export function goArchitecture(arch: string): string {
  const names: Record<string, string> = { x64: 'amd64', ia32: '386', loong64: 'loong64' };
  return names[arch] ?? arch;
}

function sizeOf(folder: string): number | null {
  try {
    const { blocks, bsize } = statfsSync(folder);
    return blocks * bsize;
  } catch {
    return null;
  }
}

function hugePages(folder: string): MachineFacts['hugePages'] {
  try {
    return readdirSync(folder).flatMap((name) => {
      const kib = Number(/^hugepages-(\d+)kB$/.exec(name)?.[1] ?? 0);
      const pages = Number(readText(join(folder, name, 'nr_hugepages')).trim());
      return kib === 0 ? [] : [{ pageBytes: kib * 1024, pages }];
    });
  } catch {
    return [];
  }
}
