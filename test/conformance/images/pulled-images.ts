import type { ImageSource } from '../../../cri/image-maker/image-archive.ts';
import { layer } from './debian-layers.ts';
import { SUITE } from './suite-refs.ts';

/**
 * What specs of image garbage collection have the runtime pull, all of the suite at once (PrePullAllImages of test/e2e_node/image_list.go),
 * and no spec of ours runs; the tags are those of the suite's release. The registry alone has them.
 */
const NEVER_RUN = [
  'docker.io/nfvpe/sriov-device-plugin:v3.1',
  'gcr.io/cadvisor/cadvisor:v0.47.2',
  'registry.k8s.io/etcd:3.6.6-0',
  'registry.k8s.io/node-problem-detector/node-problem-detector:v1.34.0',
  `${SUITE}/ipc-utils:1.3`,
  `${SUITE}/node-perf/npb-ep:1.2`,
  `${SUITE}/node-perf/npb-is:1.2`,
  `${SUITE}/node-perf/tf-wide-deep:1.3`,
  `${SUITE}/volume/nfs:1.4`,
];
const PERL = `${SUITE}/perl:5.26`;
/** Files of the images that are pulled, by which a node that is short of inodes gets some back: a spec wants 10,000 and more. */
const PERL_FILES = 25_000;

/**
 * An image that the same list names by its digest, which none can have that is made here: it is there under this name from the beginning, and pinned,
 * so that nobody has to pull it.
 */
export const BY_DIGEST = {
  source: `${SUITE}/busybox:in-place-of-a-digest`,
  ref: `${SUITE}/busybox@sha256:a9155b13325b2abef48e71de77bb8ac015412a566829f621d06bfae5c699b1b9`,
};

/** The images that the registry alone has. @param userland a Debian's files, with Perl; @param small a busybox */
export async function pulledImages(userland: Buffer, small: Buffer): Promise<ImageSource[]> {
  const perl = { ref: PERL, config: { Cmd: ['perl'], Labels: { ref: PERL } } };
  return [
    ...NEVER_RUN.map((ref) => ({
      ref,
      config: { Cmd: ['none: it is pulled only'], Labels: { ref } },
      layers: [small],
    })),
    { ...perl, layers: [userland, await manyFiles(PERL_FILES)] },
  ];
}

function manyFiles(count: number): Promise<Buffer> {
  return layer((tar) => {
    for (let at = 0; at < count; at += 1)
      tar.entry({ name: `usr/share/perl-files/${Math.floor(at / 500)}/${at}`, mode: 0o644, mtime: new Date(0) }, '');
  });
}
