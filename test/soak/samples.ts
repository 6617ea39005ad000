import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { cgroupHierarchies } from '../../cri/private-containerd/container-remains.ts';
import type { ClusterNode } from '../cluster/support/cluster-node.ts';
import { trendOf } from './slopes.ts';
import type { Reading, Trend } from './slopes.ts';

/** A process that is young still grows, s. */
const GROWN_UP_S = 30;
/** Until then the number of pods grows, ms. */
const FILLED_MS = 60_000;

/** A process under watch. */
export interface Watched {
  pid: number;
  life: number;
  ageSeconds: number;
}

/** Gathers readings of processes and of the machine, and tells their trends. */
export class Samples {
  private readonly series = new Map<string, Reading[]>();
  private readonly began = performance.now();

  /** Reads all of a process; a young one, or one that is just gone, is left out. */
  async process(name: string, { pid, life, ageSeconds }: Watched): Promise<void> {
    if (ageSeconds < GROWN_UP_S) return;
    try {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      const fds = (await readdir(`/proc/${pid}/fd`)).length;
      const number = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? NaN);
      this.add(`${name}.rssMiB`, number('VmRSS') / 1024, life);
      this.add(`${name}.threads`, number('Threads'), life);
      this.add(`${name}.fds`, fds, life);
    } catch {
      // killed a moment ago
    }
  }

  /** Mounts and cgroups of the node, once all places have had their first pod. */
  async machine(node: ClusterNode): Promise<void> {
    if (performance.now() - this.began < FILLED_MS) return;
    this.add('mounts', (await mountsOf(node.dir)).length, 0);
    this.add('cgroups', (await cgroupsOf(node.cgroupRoot)).length, 0);
  }

  /** Trends by name of the series. */
  trends(): Record<string, Trend | null> {
    return Object.fromEntries([...this.series].map(([name, readings]) => [name, trendOf(readings)]));
  }

  private add(name: string, value: number, life: number): void {
    const minute = (performance.now() - this.began) / 60_000;
    const readings = this.series.get(name) ?? [];
    readings.push({ minute, value: Math.round(value * 10) / 10, life });
    this.series.set(name, readings);
  }
}

/** Mount points below a folder. */
export async function mountsOf(dir: string): Promise<string[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).split('\n');
  return lines.map((line) => line.split(' ')[4] ?? '').filter((point) => point.startsWith(`${dir}/`));
}

/** Cgroups of pods and containers below a node's root, in one hierarchy (they are the same in all). */
export async function cgroupsOf(cgroupRoot: string): Promise<string[]> {
  const all = await cgroupHierarchies();
  const hierarchy = all.find((dir) => dir.endsWith('/memory')) ?? all[0] ?? '';
  const entries = await readdir(join(hierarchy, cgroupRoot), { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory() && /\/pod[^/]+/.test(`${entry.parentPath}/${entry.name}`))
    .map((entry) => `${entry.parentPath}/${entry.name}`);
}
