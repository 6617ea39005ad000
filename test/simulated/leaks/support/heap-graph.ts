import { readFileSync } from 'node:fs';

interface Snapshot {
  snapshot: {
    meta: {
      node_fields: string[];
      node_types: [string[], ...unknown[]];
      edge_fields: string[];
      edge_types: [string[], ...unknown[]];
    };
  };
  nodes: number[];
  edges: number[];
  strings: string[];
}

/** A way that is not gone along: what is only held by `edge` of an object of class `of` is taken for no leak. */
export interface Allowed {
  of: string;
  edge: string;
}

/** The table of all texts, which holds none of them, and what V8 learns of code while that runs. */
const NO_HOLDERS = /^\(Internalized strings\)$|^\(Weak roots\)$|^system \/ (Feedback|AllocationSite)/;

const NONE: ReadonlySet<number> = new Set();

/** A V8 heap snapshot as a graph of what is held, from the roots on. */
export class HeapGraph {
  private readonly data: Snapshot;
  private readonly width: number;
  private readonly edgeWidth: number;
  /** Number of the first edge of each node. */
  private readonly firstEdge: Uint32Array;
  /** The node, and its edge, by which each was reached first; -1: not at all. */
  private readonly parent: Int32Array;
  private readonly by: Int32Array;

  /** Reads a `.heapsnapshot` file. */
  constructor(path: string, allowed: readonly Allowed[] = []) {
    this.data = JSON.parse(readFileSync(path, 'utf8')) as Snapshot;
    const { meta } = this.data.snapshot;
    this.width = meta.node_fields.length;
    this.edgeWidth = meta.edge_fields.length;
    const nodes = this.data.nodes.length / this.width;
    const countAt = meta.node_fields.indexOf('edge_count');
    this.firstEdge = new Uint32Array(nodes + 1);
    for (let node = 0; node < nodes; node++)
      this.firstEdge[node + 1] = (this.firstEdge[node] ?? 0) + (this.data.nodes[node * this.width + countAt] ?? 0);
    this.parent = new Int32Array(nodes).fill(-1);
    this.by = new Int32Array(nodes).fill(-1);
    this.walk(allowed);
  }

  /** How many objects of each class are held. */
  classes(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const node of this.held()) {
      const type = this.typeOf(node);
      if (type !== 'object' && type !== 'closure' && type !== 'native') continue;
      const name = `${type} ${this.nameOf(node)}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  }

  /** Texts that are held and that `match`, each with the way from a root to it. Of long texts the beginning is looked at. */
  texts(match: RegExp): { text: string; way: string }[] {
    const found = [];
    for (const node of this.held()) {
      if (!this.typeOf(node).endsWith('string')) continue;
      const text = this.nameOf(node);
      if (match.test(text)) found.push({ text, way: this.wayTo(node) });
    }
    return found;
  }

  /** The way to some object of a class. */
  wayToOne(name: string): string {
    let last = -1;
    for (const node of this.held()) if (`${this.typeOf(node)} ${this.nameOf(node)}` === name) last = node;
    return last === -1 ? '' : this.wayTo(last);
  }

  private *held(): Iterable<number> {
    for (let node = 1; node < this.parent.length; node++) if (this.parent[node] !== -1) yield node;
  }

  private walk(allowed: readonly Allowed[]): void {
    const holdsNone = new Uint8Array(this.data.strings.map((text) => (NO_HOLDERS.test(text) ? 1 : 0)));
    const owners = new Set(allowed.map(({ of }) => of));
    /** What is not gone to from where V8 keeps fields of an object that has allowed ones: it is a second edge to the same. */
    const beside = new Map<number, ReadonlySet<number>>();
    const weak = this.data.snapshot.meta.edge_types[0].indexOf('weak');
    const queue = [0];
    this.parent[0] = 0;
    // it grows meanwhile
    for (const node of queue) {
      const nameAt = this.data.nodes[node * this.width + 1] ?? 0;
      if (holdsNone[nameAt] === 1) continue;
      const name = this.data.strings[nameAt] ?? '';
      let barred = beside.get(node) ?? NONE;
      if (owners.has(name)) {
        const isAllowed = (edge: number) => allowed.some((a) => a.of === name && a.edge === this.edgeName(edge));
        barred = new Set([...this.edgesOf(node)].filter(isAllowed).map((edge) => this.target(edge)));
        for (const edge of this.edgesOf(node)) if (this.isFieldStore(edge)) beside.set(this.target(edge), barred);
      }
      for (const edge of this.edgesOf(node)) {
        const to = this.target(edge);
        if (this.parent[to] !== -1 || this.data.edges[edge * this.edgeWidth] === weak || barred.has(to)) continue;
        this.parent[to] = node;
        this.by[to] = edge;
        queue.push(to);
      }
    }
  }

  private *edgesOf(node: number): Iterable<number> {
    const end = this.firstEdge[node + 1] ?? 0;
    for (let edge = this.firstEdge[node] ?? 0; edge < end; edge++) yield edge;
  }

  /** Does it lead to where V8 keeps those fields of an object that do not stand in itself? */
  private isFieldStore(edge: number): boolean {
    return this.edgeType(edge) === 'internal' && this.edgeName(edge) === 'properties';
  }

  private wayTo(node: number): string {
    const steps: string[] = [];
    for (let at = node; at !== 0 && steps.length < 12; at = this.parent[at] ?? 0)
      steps.unshift(
        `${this.nameOf(this.parent[at] ?? 0).slice(0, 40)}.${this.edgeName(this.by[at] ?? 0).slice(0, 40)}`,
      );
    return steps.join(' > ');
  }

  private typeOf(node: number): string {
    const { meta } = this.data.snapshot;
    return meta.node_types[0][this.data.nodes[node * this.width] ?? 0] ?? '';
  }

  private nameOf(node: number): string {
    return this.data.strings[this.data.nodes[node * this.width + 1] ?? 0] ?? '';
  }

  private edgeType(edge: number): string {
    const { meta } = this.data.snapshot;
    return meta.edge_types[0][this.data.edges[edge * this.edgeWidth] ?? 0] ?? '';
  }

  private edgeName(edge: number): string {
    const type = this.edgeType(edge);
    const at = this.data.edges[edge * this.edgeWidth + 1] ?? 0;
    return type === 'element' || type === 'hidden' ? `[${at}]` : (this.data.strings[at] ?? '');
  }

  private target(edge: number): number {
    return (this.data.edges[edge * this.edgeWidth + 2] ?? 0) / this.width;
  }
}
