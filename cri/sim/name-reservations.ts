import { refused } from './rpc-error.ts';

/** Sandbox and container names that are taken, from the begin of the creating call to the removal. */
export class NameReservations {
  readonly #kind: 'sandbox' | 'container';
  readonly #owners = new Map<string, string>();

  constructor(kind: 'sandbox' | 'container') {
    this.#kind = kind;
  }

  /** Throws containerd's `name "..." is reserved for "..."` when another id has it. */
  reserve(name: string, id: string): void {
    const owner = this.#owners.get(name);
    if (owner !== undefined && owner !== id) {
      const taken = `name ${JSON.stringify(name)} is reserved for ${JSON.stringify(owner)}`;
      throw refused(`failed to reserve ${this.#kind} name ${JSON.stringify(name)}: ${taken}`);
    }
    this.#owners.set(name, id);
  }

  release(name: string): void {
    this.#owners.delete(name);
  }

  get size(): number {
    return this.#owners.size;
  }
}
