import { createHash } from 'node:crypto';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { SpecReference } from '../machines/journaled-machine.ts';

const ids = new WeakMap<object, string>();

/** Name of a pod's content: the same pod, byte for byte as JSON, has the same name everywhere. */
export function specIdOf(pod: Pod): string {
  let id = ids.get(pod);
  if (id === undefined) {
    id = createHash('sha256').update(JSON.stringify(pod)).digest('hex').slice(0, 16);
    ids.set(pod, id);
  }
  return id;
}

/** Which specs stand in the current segment. */
export class SpecBook {
  private readonly written = new Set<string>();
  private lines = '';

  /** A new segment begins: it must hold every spec that it refers to. */
  reset(): void {
    this.written.clear();
    this.lines = '';
  }

  /** A reference to the pod; its `spec` record is put aside for {@link take} when the segment lacks it. */
  refer(pod: Pod): SpecReference {
    const id = specIdOf(pod);
    if (!this.written.has(id)) {
      this.written.add(id);
      this.lines += `${JSON.stringify({ r: 'spec', id, pod })}\n`;
    }
    return { $spec: id };
  }

  /** Records that must stand before the line that refers to them. */
  take(): string {
    const { lines } = this;
    this.lines = '';
    return lines;
  }
}
