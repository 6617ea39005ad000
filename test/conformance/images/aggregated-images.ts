import { readFile } from 'node:fs/promises';
import { clusterTool } from '../../cluster/support/cluster-tool.ts';
import { referenceTool } from '../../tools/reference-tool.ts';
import { debianRoot, programLayer } from './debian-layers.ts';
import { fingerprint, keptArchive } from './image-cache.ts';
import { SUITE } from './suite-refs.ts';

/** An API server that the suite has the cluster's own hand calls on to, and what it keeps its objects in (test/utils/image/manifest.go). */
const REFS = { server: `${SUITE}/sample-apiserver:1.29.2`, etcd: 'registry.k8s.io/etcd:3.6.6-0' };

/** Path of an archive of the images that the suite's aggregated API server runs from. What this release's modules make stands for the tags. */
export async function aggregatedImages(): Promise<string> {
  const [debian, server, etcd] = [
    await debianRoot(),
    await referenceTool('sample-apiserver'),
    await clusterTool('etcd'),
  ];
  const mark = await fingerprint([debian, server, etcd], ['aggregated-images.ts', 'debian-layers.ts']);
  return keptArchive(`aggregated-${mark}.tar`, async () => [
    {
      ref: REFS.server,
      config: { Entrypoint: ['/sample-apiserver'], Labels: { ref: REFS.server } },
      layers: [await programLayer('sample-apiserver', server, 0o755)],
    },
    {
      ref: REFS.etcd,
      config: { Cmd: ['/usr/local/bin/etcd'], Labels: { ref: REFS.etcd } },
      // Built for the machine, it wants the C library of a userland.
      layers: [await readFile(debian), await programLayer('usr/local/bin/etcd', etcd, 0o755)],
    },
  ]);
}
