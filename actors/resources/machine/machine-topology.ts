import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type {
  MachineCore,
  MachineNode,
  MachineTopology,
} from '../../../machines/resource-managers/machine/machine-topology.ts';
import { parseCpuSetList } from '../../../machines/resource-managers/cpu/cpu-set.ts';
import { readText } from './node-facts.ts';

/** A core with the number that its socket has for it. */
interface NumberedCore extends MachineCore {
  number: number;
  threads: number[];
}

/** How this machine is built, read from `/sys/devices/system` as cAdvisor reads it. `sys`: where that is. */
export function readMachineTopology(sys = '/sys/devices/system'): MachineTopology {
  const ids = numbered(join(sys, 'node'), 'node');
  const nodes = ids.length > 0 ? ids.map((id) => nodeOf(sys, id)) : packagesAsNodes(sys);
  const sockets = new Set(nodes.flatMap(({ cores }) => cores.map(({ socket }) => socket)));
  const cpus = nodes.reduce((sum, { cores }) => sum + cores.reduce((all, { threads }) => all + threads.length, 0), 0);
  return { cpus, sockets: sockets.size, nodes };
}

function nodeOf(sys: string, id: number): MachineNode {
  const folder = join(sys, 'node', `node${id}`);
  const memory = Number(/MemTotal:\s*(\d+) kB/.exec(readText(join(folder, 'meminfo')))?.[1] ?? 0) * 1024;
  const distances = readText(join(folder, 'distance')).trim();
  return {
    id,
    memory,
    hugePages: hugePagesOf(join(folder, 'hugepages')),
    cores: coresOf(sys, numbered(folder, 'cpu')),
    distances: distances === '' ? null : distances.split(/\s+/).map(Number),
  };
}

/** A kernel without NUMA: each package counts as a node, of whose memory nothing is known. */
function packagesAsNodes(sys: string): MachineNode[] {
  const packages = new Map<number, number[]>();
  for (const cpu of numbered(join(sys, 'cpu'), 'cpu')) {
    const id = packageOf(sys, cpu);
    if (id !== null) packages.set(id, [...(packages.get(id) ?? []), cpu]);
  }
  return [...packages]
    .sort(([a], [b]) => a - b)
    .map(([id, cpus]) => ({ id, memory: 0, hugePages: [], cores: coresOf(sys, cpus), distances: null }));
}

function coresOf(sys: string, cpus: readonly number[]): MachineCore[] {
  const online = onlineCpus(sys);
  const cores: NumberedCore[] = [];
  for (const cpu of cpus) {
    const [number, socket] = [numberIn(topologyFile(sys, cpu, 'core_id')), packageOf(sys, cpu)];
    if ((online !== null && !online.has(cpu)) || number === null || socket === null) continue;
    const core = cores.find((each) => each.number === number && each.socket === socket);
    if (core === undefined) cores.push({ number, socket, threads: [cpu] });
    else core.threads.push(cpu);
  }
  return cores.map(({ socket, threads }) => {
    const uncoreCache = uncoreOf(sys, threads[0] ?? 0, cores.length * threads.length);
    return { socket, threads, ...(uncoreCache !== null && { uncoreCache }) };
  });
}

/** Id of the first cache above level 2 that the CPU shares with others, unless its whole node does. */
function uncoreOf(sys: string, cpu: number, ofNode: number): number | null {
  const folder = join(sys, 'cpu', `cpu${cpu}`, 'cache');
  for (const index of numbered(folder, 'index')) {
    const cache = join(folder, `index${index}`);
    if ((numberIn(join(cache, 'level')) ?? 0) <= 2) continue;
    const shared = bitsIn(readText(join(cache, 'shared_cpu_map')));
    if (shared !== ofNode) return numberIn(join(cache, 'id')) ?? index;
  }
  return null;
}

/** Bits that are set in the kernel's mask (`0000000f,ffffffff`). */
function bitsIn(mask: string): number {
  let bits = 0;
  for (const digit of mask.trim()) {
    for (let left = Number.parseInt(digit, 16) || 0; left > 0; left >>= 1) bits += left & 1;
  }
  return bits;
}

function hugePagesOf(folder: string): MachineNode['hugePages'] {
  return entries(folder).flatMap((name) => {
    const size = /^hugepages-(\d+)kB$/.exec(name)?.[1];
    const pages = numberIn(join(folder, name, 'nr_hugepages'));
    return size === undefined || pages === null ? [] : [{ pageSize: Number(size), pages }];
  });
}

/** CPUs that are online; null when the kernel does not tell. */
function onlineCpus(sys: string): ReadonlySet<number> | null {
  const text = readText(join(sys, 'cpu', 'online')).trim();
  return text === '' ? null : parseCpuSetList(text);
}

function packageOf(sys: string, cpu: number): number | null {
  return numberIn(topologyFile(sys, cpu, 'physical_package_id'));
}

function topologyFile(sys: string, cpu: number, name: string): string {
  return join(sys, 'cpu', `cpu${cpu}`, 'topology', name);
}

function numberIn(file: string): number | null {
  const text = readText(file).trim();
  return /^-?\d+$/.test(text) ? Number(text) : null;
}

/** Numbers of the entries `NAME<n>`, ascending. */
function numbered(folder: string, name: string): number[] {
  const numbers = entries(folder).flatMap((entry) => {
    const rest = entry.startsWith(name) ? entry.slice(name.length) : '';
    return /^\d+$/.test(rest) ? [Number(rest)] : [];
  });
  return numbers.sort((a, b) => a - b);
}

function entries(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}
