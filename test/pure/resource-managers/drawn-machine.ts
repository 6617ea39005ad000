import type { MachineTopology } from '../../../machines/resource-managers/machine/machine-topology.ts';

/** How a machine of the record is built (test/tools/resource-manager-vectors/machine.go, whose words these are). */
export interface DrawnMachine {
  s: number;
  n: number;
  c: number;
  t: number;
  u: number;
  split?: boolean;
  mixed?: boolean;
  off?: number[];
  m: number;
  p?: number;
  f?: number;
}

/** The machine. */
export function drawnMachine(drawn: DrawnMachine): MachineTopology {
  const { s: sockets, n: nodes, c: cores, t: threads, u: uncores, m: mib, p: pages = 0, f: far = 0 } = drawn;
  const off = new Set(drawn.off ?? []);
  let cpus = 0;
  const coreOf = (node: number, core: number) => {
    const per = sockets / nodes;
    const socket =
      sockets > nodes ? node * per + Math.floor((core * per) / cores) : Math.floor((node * sockets) / nodes);
    const index = drawn.mixed ? core * nodes + node : node * cores + core;
    const numbers = Array.from({ length: threads }, (_, t) =>
      drawn.split ? index + t * nodes * cores : index * threads + t,
    ).filter((cpu) => !off.has(cpu));
    cpus += numbers.length;
    const uncoreCache = uncores > 1 ? node * uncores + Math.floor((core * uncores) / cores) : undefined;
    return { socket, threads: numbers, ...(uncoreCache !== undefined && { uncoreCache }) };
  };
  const list = Array.from({ length: nodes }, (_, id) => ({
    id,
    memory: mib * 2 ** 20,
    hugePages: pages > 0 ? [{ pageSize: 2048, pages }] : [],
    distances: Array.from({ length: nodes }, (_2, to) => (to === id ? 10 : 20 + far * Math.abs(id - to))),
    cores: Array.from({ length: cores }, (_2, core) => coreOf(id, core)).filter((each) => each.threads.length > 0),
  }));
  return { cpus, sockets, nodes: list };
}
