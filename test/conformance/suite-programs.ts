import type { SimScript } from '../../cri/sim/script.ts';

/**
 * What the simulated runtime makes of the suite's images: commands of which it knows enough are played (a few shell tools,
 * agnhost's mounttest); a tool that it does not know fails at once, so that nobody waits for it, and servers run without
 * serving anything.
 */
export const SUITE_PROGRAMS: SimScript = {
  runtime: { handlers: [{ name: '' }, { name: 'runc' }, { name: 'test-handler' }] },
  images: [
    { image: 'registry.k8s.io/pause:3.10.1', present: true },
    { image: '*agnhost*', entrypoint: ['/agnhost'], command: ['pause'] },
    { image: '*busybox*', command: ['sh'] },
    { image: '*nonewprivs*', entrypoint: ['/nnp'] },
    { image: '*nonroot*', user: '1234' },
  ],
  containers: [
    {
      match: { image: ['*busybox*', '*nonroot*', '*nonewprivs*'] },
      attempts: [{ plays: true, otherwise: { exit: { after: 700, code: 127 } } }],
    },
    { match: { image: '*' }, attempts: [{ plays: true }] },
  ],
};
