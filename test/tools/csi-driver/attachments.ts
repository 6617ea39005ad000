/** Which volumes of a CSI driver of a test are attached to a node, and which of those the node has staged. */
import { Refusal } from './faults.ts';

const PRECONDITION = 9;

/** What a disk of a cloud is strict about: it is at one node at a time, is there before it is staged, and stays until it is not. */
export class Attachments {
  private readonly nodes = new Map<string, string>();
  private readonly staged = new Map<string, string>();

  /** Volumes that are attached. */
  get attached(): string[] {
    return [...this.nodes.keys()].sort();
  }

  attach(volume: string, node: string): void {
    const at = this.nodes.get(volume);
    if (at !== undefined && at !== node) throw new Refusal(PRECONDITION, `volume ${volume} is attached to ${at}`);
    this.nodes.set(volume, node);
  }

  detach(volume: string): void {
    if ([...this.staged.values()].includes(volume)) throw new Refusal(PRECONDITION, `volume ${volume} is in use`);
    this.nodes.delete(volume);
  }

  /** @param strict it must be attached before */
  stage(volume: string, path: string, strict: boolean): void {
    if (strict && !this.nodes.has(volume)) throw new Refusal(PRECONDITION, `volume ${volume} is not attached`);
    this.staged.set(path, volume);
  }

  unstage(path: string): void {
    this.staged.delete(path);
  }
}
