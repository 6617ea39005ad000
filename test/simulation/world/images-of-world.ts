import { LITTER_MIB } from '../draw/draw-leaks.ts';
import { IMAGES } from '../draw/draw-pod.ts';

/** The images of the simulated registries, as the simulated runtime's script has them: fast and slow ones, and such that fail. */
export const IMAGE_SCRIPT = {
  images: [
    ...IMAGES.present.map((image) => ({ image, present: true })),
    { image: 'registry/slow:1', pull: { takes: 45_000 } },
    { image: 'registry/flaky:1', pull: { fail: { code: 'Unknown', message: 'connection reset' }, times: 3 } },
    { image: 'registry/none:1', pull: { fail: { code: 'NotFound', message: 'no such image' } } },
    { image: 'registry/*', pull: { takes: 1_500 } },
    ...LITTER_MIB.map((mib) => ({ image: `*/litter/of-${mib}:*`, sizeBytes: mib * 2 ** 20 })),
  ],
} as const;
