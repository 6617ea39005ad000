import type { Shape } from './shapes.ts';

/** What was asked for of one pod. Names are used once in a soak, so a name stands for a pod. */
export interface AskedPod {
  name: string;
  shape: Shape;
  graceSeconds: number;
  /** Before the first try to delete it, ms since the epoch. */
  deleteFrom: number | null;
  /** When the API server was seen to know of the deletion, ms since the epoch. */
  deletedAt: number | null;
}

/** The orders of a soak, for those who judge what came of them. */
export class PodBook {
  readonly pods = new Map<string, AskedPod>();

  create(name: string, shape: Shape, graceSeconds: number): void {
    this.pods.set(name, { name, shape, graceSeconds, deleteFrom: null, deletedAt: null });
  }

  deleting(name: string, at: number): void {
    const pod = this.pods.get(name);
    if (pod !== undefined) pod.deleteFrom ??= at;
  }

  deleted(name: string, at: number): void {
    const pod = this.pods.get(name);
    if (pod !== undefined) pod.deletedAt ??= at;
  }
}
