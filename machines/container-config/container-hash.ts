import { goJson } from './go-json.ts';

/**
 * The hash by which the agent sees that a container's spec changed, as hex without leading zeros: annotation
 * `io.kubernetes.container.hash`. Bit for bit the kubelet's HashContainer of v1.31 to v1.35 - FNV-1a (32 bit) over
 * the debug print of the JSON of `{image, name}` - so that a switch between the two restarts nothing.
 */
export function containerHash(container: { name: string; image?: string }): string {
  const known = hashes.get(container);
  if (known !== undefined) return known;
  const hash = hashOf(container);
  hashes.set(container, hash);
  return hash;
}

/** Specs are never changed in place, and each step of a pod asks for the hashes of all its containers. */
const hashes = new WeakMap<object, string>();

function hashOf(container: { name: string; image?: string }): string {
  const bytes = utf8(goJson({ image: container.image ?? '', name: container.name }));
  // What the kubelet's printer makes of a byte slice, its bytes in decimal.
  const printed = `([]uint8)[${bytes.join(' ')}]`;
  return fnv32a(printed).toString(16);
}

/** FNV-1a, 32 bit, of an ASCII string. */
function fnv32a(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** UTF-8 bytes of a text. */
export function utf8(text: string): number[] {
  const out: number[] = [];
  for (const c of text) {
    const code = c.codePointAt(0) ?? 0;
    if (code < 0x80) out.push(code);
    else if (code < 0x800) out.push(0xc0 | (code >> 6), 0x80 | (code & 0x3f));
    else if (code < 0x10000) out.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
    else {
      out.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 0x3f), 0x80 | ((code >> 6) & 0x3f), 0x80 | (code & 0x3f));
    }
  }
  return out;
}
