import { isQuantity, parseBytes } from '../../../machines/values/quantity.ts';
import type { KnownVolume } from '../../../machines/volume-manager/mount-context.ts';
import type { VolumePlugin, VolumeSpec } from './volume-plugin.ts';

/**
 * Sizes that count for an expansion: those of a claim that the pod may write to. Of a kind in whose growing the node has no part nothing is done, nor
 * told (kubelet: checkIfSupportsNodeExpansion).
 */
export function sizesOf(
  { pv, claim, readOnly }: VolumeSpec,
  { expand }: Pick<VolumePlugin, 'expand'>,
): Pick<KnownVolume, 'wantedBytes' | 'knownBytes' | 'growsHere'> {
  if (pv === null || claim === null || readOnly || expand === undefined) return { wantedBytes: 0, knownBytes: 0 };
  const bytes = (text = '0'): number => (isQuantity(text) ? parseBytes(text) : 0);
  return {
    wantedBytes: bytes(pv.spec?.capacity?.['storage']),
    knownBytes: bytes(claim.status?.capacity?.['storage']),
    growsHere: true,
  };
}
