import { refused } from './rpc-error.ts';

/** Pod addresses of one range; an address is given again only after all others were. */
export class AddressPool {
  readonly #cidr: string;
  readonly #format: (host: number) => string;
  readonly #first = 2;
  readonly #last: number;
  readonly #taken = new Map<string, number>();
  readonly #used = new Set<number>();
  #next = 2;

  /** `cidr`: `10.88.0.0/16` or `fd00::/64`. The first host is the bridge's and never given. */
  constructor(cidr: string) {
    this.#cidr = cidr;
    const [base = '', bits = '0'] = cidr.split('/');
    if (base.includes(':')) {
      this.#last = 0xffff;
      this.#format = (host) => base + host.toString(16);
      return;
    }
    const size = 2 ** (32 - Number(bits));
    const start = Math.floor(base.split('.').reduce((sum, part) => sum * 256 + Number(part), 0) / size) * size;
    this.#last = size - 2;
    this.#format = (host) => [24, 16, 8, 0].map((shift) => Math.floor((start + host) / 2 ** shift) % 256).join('.');
  }

  /** Throws the CNI host-local plugin's refusal when all are taken. */
  take(): string {
    if (this.#used.size > this.#last - this.#first) {
      throw refused(`failed to allocate for range 0: no IP addresses available in range set: ${this.#cidr}`);
    }
    while (this.#used.has(this.#next)) this.#advance();
    const host = this.#next;
    this.#advance();
    const address = this.#format(host);
    this.#used.add(host);
    this.#taken.set(address, host);
    return address;
  }

  free(address: string): void {
    const host = this.#taken.get(address);
    if (host === undefined) return;
    this.#taken.delete(address);
    this.#used.delete(host);
  }

  get inUse(): number {
    return this.#used.size;
  }

  #advance(): void {
    this.#next = this.#next >= this.#last ? this.#first : this.#next + 1;
  }
}
