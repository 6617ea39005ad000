import { manifestName } from './node-in-vm.ts';
import type { NodeInVm } from './node-in-vm.ts';

/** What a node's statistics tell, values apart: it is the same for two agents with the same pods on the same machine. */
export interface StatsShape {
  /** Where `/stats/summary` has a number, a text or a null: `node.memory.psi.full.avg10: number`. Members of lists by name. */
  readonly summary: readonly string[];
  /** Series of `/metrics/resource`. */
  readonly resource: readonly string[];
  /**
   * Series of `/metrics/cadvisor` of the machine, of the tiers, of pods and of containers. Those of disks are only there where something was
   * read or written, and what one agent's pods have read is in memory for the next agent's: they count of the whole machine only.
   */
  readonly cadvisor: readonly string[];
}

export async function statsShape(node: NodeInVm): Promise<StatsShape> {
  const pods = new Map((await node.pods()).map((pod) => [pod.metadata?.uid ?? '', manifestName(pod)]));
  const plain = (text: string) => {
    let out = text;
    for (const [uid, name] of pods) out = out.replaceAll(uid, name).replaceAll(uid.replaceAll('-', '_'), name);
    return out.replaceAll(/[0-9a-f]{64}/g, 'ID');
  };
  const summary = leaves('', JSON.parse(await node.get('/stats/summary')));
  const ofAny = /[{,]id="/;
  const ofPods = /[{,]id="\/(kubepods\.slice[^"]*)?"/;
  const ofDisk = /^container_(blkio|fs_(reads|writes))_.*device="\//;
  return {
    summary: summary.sort(),
    resource: series(plain(await node.get('/metrics/resource'))),
    cadvisor: series(plain(await node.get('/metrics/cadvisor'))).filter(
      (each) => !ofAny.test(each) || (ofDisk.test(each) ? each.includes('id="/"') : ofPods.test(each)),
    ),
  };
}

/** The values of a series, by its whole name with labels. */
export function valuesOf(metrics: string, name: string): number[] {
  return metrics
    .split('\n')
    .filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .map((line) => Number(/[} ]([0-9.e+-]+)(?: [0-9]+)?$/.exec(line)?.[1]));
}

/** Names and labels; the value and the time are cut off. */
function series(metrics: string): string[] {
  const lines = metrics.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return [...new Set(lines.map((line) => line.replace(/ [^ "}]+( [0-9]+)?$/, '')))].sort();
}

function leaves(path: string, value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap((each: unknown) => leaves(`${path}[${nameOf(each)}]`, each));
  if (typeof value !== 'object' || value === null) return [`${path}: ${value === null ? 'null' : typeof value}`];
  return Object.entries(value).flatMap(([key, each]) => leaves(path === '' ? key : `${path}.${key}`, each));
}

/** Interfaces of containers have names that nobody chose. */
function nameOf(member: unknown): string {
  const { name, podRef } = member as { name?: string; podRef?: { name: string } };
  return (podRef?.name ?? name ?? '').replace(/^veth[0-9a-f]+$/, 'veth');
}
