import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { containerdLayout } from '../../cri/private-containerd/layout.ts';
import { findShims } from '../../cri/private-containerd/processes.ts';
import type { ClusterNode } from '../cluster/support/cluster-node.ts';
import { cgroupsOf, mountsOf } from './outside-view.ts';
import { trendOf, warmUpOf } from './slopes.ts';
import type { Reading, Trend } from './slopes.ts';

/** A process that has just begun loads its code, s. */
const LOADED_S = 30;
/** What a process takes in its first minute is read once, so that it can be compared with that of later ones, s. */
const YOUNG_S = 45;

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
  private load = 0;

  /** Containers that the node has now. */
  containers(count: number): void {
    this.load = count;
  }

  /** Reads all of a process; a young one, or one that is just gone, is left out. */
  async process(name: string, { pid, life, ageSeconds }: Watched): Promise<void> {
    if (ageSeconds < LOADED_S) return;
    try {
      const status = await readFile(`/proc/${pid}/status`, 'utf8');
      const fds = (await readdir(`/proc/${pid}/fd`)).length;
      const number = (field: string) => Number(new RegExp(`^${field}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? NaN);
      const rss = number('VmRSS') / 1024;
      // killed a moment ago, and not yet gone
      if (!Number.isFinite(rss)) return;
      const age = ageSeconds / 60;
      this.add(`${name}.rssMiB`, rss, life, age);
      this.add(`${name}.threads`, number('Threads'), life, age);
      this.add(`${name}.fds`, fds, life, age);
      const young = this.series.get(`${name}.youngRssMiB`)?.at(-1);
      if (ageSeconds < YOUNG_S && (young === undefined || young.minute < this.minute() - YOUNG_S / 60))
        this.add(`${name}.youngRssMiB`, rss, 0, this.minute());
    } catch {
      // killed a moment ago
    }
  }

  /** What the machine holds for the node. */
  async machine(node: ClusterNode): Promise<void> {
    const readings = {
      mounts: (await mountsOf(node.agentRoot)).length,
      'containerd.mounts': (await mountsOf(join(node.dir, 'containerd'))).length,
      cgroups: (await cgroupsOf(node.cgroupRoot)).length,
      'containerd.shims': (await findShims(containerdLayout(node.containerd.rootDir).socket)).length,
      'containerd.veths': await vethsOf(node),
    };
    for (const [name, value] of Object.entries(readings)) this.add(name, value, 0, this.minute());
  }

  /** Trends by name of the series. */
  trends(): Record<string, Trend | null> {
    const sorted = [...this.series].sort(([a], [b]) => (a < b ? -1 : 1));
    return Object.fromEntries(sorted.map(([name, readings]) => [name, trendOf(readings, warmUpOf(name))]));
  }

  /** All readings as text, `series minute value life containers`. */
  text(): string {
    const lines = [...this.series].flatMap(([name, readings]) =>
      readings.map((r) => `${name} ${r.minute.toFixed(2)} ${r.value} ${r.life} ${r.load}`),
    );
    return `${lines.join('\n')}\n`;
  }

  private minute(): number {
    return (performance.now() - this.began) / 60_000;
  }

  private add(name: string, value: number, life: number, age: number): void {
    const readings = this.series.get(name) ?? [];
    readings.push({ minute: this.minute(), value: Math.round(value * 10) / 10, life, age, load: this.load });
    this.series.set(name, readings);
  }
}

/** Network interfaces of the node's pods. */
export async function vethsOf(node: ClusterNode): Promise<number> {
  const { bridgeName } = containerdLayout(node.containerd.rootDir);
  return (await readdir(join('/sys/class/net', bridgeName, 'brif')).catch(() => [])).length;
}
