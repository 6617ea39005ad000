import { fnv32a, utf8 } from '../values/hash.ts';
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
