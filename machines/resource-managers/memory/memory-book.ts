import { atUid, withUid, withoutUid } from '../../supervisor/uid-table.ts';
import type { NodeMask } from '../topology/node-mask.ts';
import { nodesOf } from '../topology/node-mask.ts';
import type { MemoryBlock, MemoryState, MemoryTable } from './memory-state.ts';

const NONE: MemoryTable = { total: 0, systemReserved: 0, allocatable: 0, reserved: 0, free: 0 };

/** A node of {@link MemoryState} that may be changed. */
interface Node {
  assignments: number;
  tables: Map<string, MemoryTable>;
  cells: readonly number[];
}

/** {@link MemoryState} on its way through one pod's admission. */
export class MemoryBook {
  private readonly nodes = new Map<number, Node>();
  private pods: MemoryState['pods'];

  constructor({ nodes, pods }: MemoryState) {
    this.pods = pods;
    for (const { id, numberOfAssignments, memoryMap, cells } of nodes) {
      const tables = new Map(Object.entries(memoryMap).map(([name, table]) => [name, { ...table }]));
      this.nodes.set(id, { assignments: numberOfAssignments, tables, cells });
    }
  }

  get state(): MemoryState {
    const nodes = Array.from(this.nodes, ([id, { assignments, tables, cells }]) => ({
      ...{ id, numberOfAssignments: assignments, cells },
      memoryMap: Object.fromEntries([...tables].map(([name, table]) => [name, { ...table }])),
    }));
    return { nodes, pods: this.pods };
  }

  /** Ids of nodes, ascending. */
  get ids(): number[] {
    return [...this.nodes.keys()].sort((a, b) => a - b);
  }

  /** Memory of a kind; of a kind that the node does not have, nothing. */
  table(id: number, resource: string): Readonly<MemoryTable> {
    return this.nodes.get(id)?.tables.get(resource) ?? NONE;
  }

  /** May these nodes give memory together? A node gives alone, or always with the same others. */
  allows(mask: NodeMask): boolean {
    const set = nodesOf(mask);
    if (set.length === 1) return true;
    return set.every((id) => this.assignments(id) === 0 || (this.cells(id).length > 1 && same(this.cells(id), set)));
  }

  cells(id: number): readonly number[] {
    return this.nodes.get(id)?.cells ?? [id];
  }

  /** What the container has; undefined for nothing. */
  of(uid: string, name: string): readonly MemoryBlock[] | undefined {
    return atUid(this.pods, uid)?.find((each) => each.name === name)?.blocks;
  }

  /** The blocks that the container has, whatever they take from nodes. */
  note(uid: string, name: string, blocks: readonly MemoryBlock[]): void {
    const grants = atUid(this.pods, uid) ?? [];
    const known = grants.some((each) => each.name === name);
    const next = known
      ? grants.map((each) => (each.name === name ? { name, blocks } : each))
      : [...grants, { name, blocks }];
    this.pods = withUid(this.pods, uid, next);
  }

  /** These nodes give so much of it together, each what it has, the lowest first. */
  take(mask: NodeMask, resource: string, size: number): void {
    const set = nodesOf(mask);
    let left = size;
    for (const id of set) {
      const node = this.nodes.get(id);
      if (node === undefined) continue;
      node.assignments++;
      node.cells = set;
      left -= moved(node.tables.get(resource), 'free', 'reserved', left);
    }
  }

  /** What the container has goes back. */
  release(uid: string, name: string): void {
    const grants = atUid(this.pods, uid) ?? [];
    const blocks = this.of(uid, name);
    if (blocks === undefined) return;
    const rest = grants.filter((each) => each.name !== name);
    this.pods = rest.length > 0 ? withUid(this.pods, uid, rest) : withoutUid(this.pods, uid);
    for (const { numaAffinity, type, size } of blocks) {
      let left = size;
      for (const id of numaAffinity) {
        const node = this.nodes.get(id);
        if (node === undefined) continue;
        node.assignments--;
        if (node.assignments === 0) node.cells = [id];
        left -= moved(node.tables.get(type), 'reserved', 'free', left);
      }
    }
  }

  /** Nothing of the pod's stays. */
  releasePod(uid: string): void {
    for (const { name } of atUid(this.pods, uid) ?? []) this.release(uid, name);
  }

  private assignments(id: number): number {
    return this.nodes.get(id)?.assignments ?? 0;
  }
}

/** Moves up to `size` bytes within a table; returns how many. */
function moved(
  table: MemoryTable | undefined,
  from: 'free' | 'reserved',
  to: 'free' | 'reserved',
  size: number,
): number {
  if (table === undefined || size <= 0) return 0;
  const part = Math.min(Math.max(table[from], 0), size);
  table[from] -= part;
  table[to] += part;
  return part;
}

function same(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((id) => b.includes(id));
}
