/** Where FNV-1a of 128 bits begins, in parts of 32 bits, the lowest first. */
const OFFSET = [0x6295c58d, 0x62b82175, 0x07bb0142, 0x6c62272e] as const;
/** The prime is 2^88 + this. */
const PRIME_LOW = 0x13b;
const PART = 0x1_0000_0000;
/** Characters that are gathered before they are hashed. */
const GATHERED = 16 * 1024;

/** FNV-1a, 128 bit, of texts' UTF-8 bytes, as Go's `hash/fnv` has it (`New128a`). Half a character counts as U+FFFD. */
export class Fnv128a {
  #parts: [number, number, number, number] = [...OFFSET];
  #gathered = '';
  #encoder = new TextEncoder();

  /** Texts one after the other count as one, as long as none of them ends within a character. */
  write(text: string): void {
    this.#gathered += text;
    if (this.#gathered.length >= GATHERED) this.#hash();
  }

  /** 32 hex digits. */
  hex(): string {
    this.#hash();
    return this.#parts.map((part) => part.toString(16).padStart(8, '0')).reduceRight((high, low) => high + low);
  }

  #hash(): void {
    const bytes = this.#encoder.encode(this.#gathered);
    this.#gathered = '';
    let [a, b, c, d] = this.#parts;
    for (const byte of bytes) {
      const low = (a ^ byte) >>> 0;
      // Times the prime: each part times PRIME_LOW with its carry (below 2^53), and all of it 88 bits further up.
      const p0 = low * PRIME_LOW;
      const p1 = b * PRIME_LOW + ((p0 / PART) | 0);
      const p2 = c * PRIME_LOW + ((p1 / PART) | 0) + ((low << 24) >>> 0);
      const p3 = d * PRIME_LOW + ((p2 / PART) | 0) + (((low >>> 8) | (b << 24)) >>> 0);
      a = p0 >>> 0;
      b = p1 >>> 0;
      c = p2 >>> 0;
      d = p3 >>> 0;
    }
    this.#parts = [a, b, c, d];
  }
}
