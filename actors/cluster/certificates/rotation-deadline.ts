import type { X509Certificate } from 'node:crypto';

/**
 * When to ask for the next certificate, in ms since 1970: after 70 to 90 % of the lifetime, spread so that nodes that
 * were made together do not rotate together. `random` is in [0, 1).
 */
export function rotationDeadline(leaf: Pick<X509Certificate, 'validFromDate' | 'validToDate'>, random: number): number {
  const from = leaf.validFromDate.getTime();
  const lifetime = leaf.validToDate.getTime() - from;
  return from + lifetime * (0.7 + 0.2 * random);
}
