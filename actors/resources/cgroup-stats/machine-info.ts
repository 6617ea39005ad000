import { readdirSync } from 'node:fs';
import { cpus, release } from 'node:os';
import { meminfoBytes } from '../machine/machine-facts.ts';
import { readSmall } from './small-files.ts';
import { trimmed } from '../../../machines/values/trim.ts';

/** What cAdvisor's MachineInfo tells of the machine, as far as `machine_*` and `cadvisor_version_info` need it. */
export interface MachineInfo {
  /** When it was read, ms since the epoch. */
  at: number;
  logicalCores: number;
  physicalCores: number;
  sockets: number;
  memoryBytes: number;
  swapBytes: number;
  /** Memory modules by type (`/sys/devices/system/edac`), empty on most virtual machines. */
  memoryByType: Readonly<Record<string, { modules: number; bytes: number }>>;
  machineId: string;
  systemUuid: string;
  bootId: string;
  kernelVersion: string;
  osVersion: string;
}

const MEMORY_CONTROLLERS = '/sys/devices/system/edac/mc';

/** Reads all of it; some milliseconds, so callers keep it (cAdvisor: five minutes). */
export function readMachineInfo(now: () => number = Date.now): MachineInfo {
  const cpuinfo = readSmall('/proc/cpuinfo') ?? '';
  const meminfo = readSmall('/proc/meminfo') ?? '';
  return {
    at: now(),
    logicalCores: cpus().length,
    physicalCores: different(cpuinfo, /^core id\s*:\s*(\d+)$/gm) || differentInTopology('core_id'),
    sockets: different(cpuinfo, /^physical id\s*:\s*(\d+)$/gm) || differentInTopology('physical_package_id'),
    memoryBytes: meminfoBytes(meminfo, 'MemTotal'),
    swapBytes: meminfoBytes(meminfo, 'SwapTotal'),
    memoryByType: memoryByType(),
    machineId: firstFile(['/etc/machine-id', '/var/lib/dbus/machine-id']),
    systemUuid: firstFile([
      '/sys/class/dmi/id/product_uuid',
      '/proc/device-tree/system-id',
      '/proc/device-tree/vm,uuid',
      '/etc/machine-id',
    ]),
    bootId: firstFile(['/proc/sys/kernel/random/boot_id']),
    kernelVersion: release(),
    osVersion: osVersion(),
  };
}

function different(text: string, pattern: RegExp): number {
  return new Set([...text.matchAll(pattern)].map((match) => match[1])).size;
}

/** For processors whose cpuinfo does not tell it (ARM). */
function differentInTopology(property: string): number {
  const folder = '/sys/devices/system/cpu';
  const values = entries(folder)
    .filter((name) => /^cpu\d+$/.test(name))
    .map((name) => readSmall(`${folder}/${name}/topology/${property}`)?.trim() ?? '');
  return new Set(values.filter((value) => value !== '')).size;
}

function memoryByType(): MachineInfo['memoryByType'] {
  const found: Record<string, { modules: number; bytes: number }> = {};
  for (const controller of entries(MEMORY_CONTROLLERS).filter((name) => /^mc\d+$/.test(name))) {
    const folder = `${MEMORY_CONTROLLERS}/${controller}`;
    for (const module of entries(folder).filter((name) => /^dimm\d+$/.test(name))) {
      const type = (readSmall(`${folder}/${module}/dimm_mem_type`) ?? '').trim();
      const mib = Number.parseInt(readSmall(`${folder}/${module}/size`) ?? '', 10) || 0;
      const entry = (found[type] ??= { modules: 0, bytes: 0 });
      entry.modules++;
      entry.bytes += mib * 1024 * 1024;
    }
  }
  return found;
}

function firstFile(paths: readonly string[]): string {
  for (const path of paths) {
    const text = readSmall(path)?.replaceAll('\0', '').trim();
    if (text !== undefined) return text;
  }
  return '';
}

function osVersion(): string {
  const text = readSmall('/etc/os-release') ?? readSmall('/usr/lib/os-release');
  if (text === undefined) return 'Unknown';
  return trimmed(/^PRETTY_NAME=(.*)$/m.exec(text)?.[1] ?? 'Linux', '"');
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
