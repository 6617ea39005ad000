import { referenceTool } from '../../tools/reference-tool.ts';
import type { ReferenceTool } from '../../tools/reference-tool.ts';
import { programLayer } from './debian-layers.ts';
import { fingerprint, keptArchive } from './image-cache.ts';

/** Where the manifests of Kubernetes' suite have CSI's images (test/e2e/testing-manifests/storage-csi/mock). */
const SIDECARS = 'registry.k8s.io/sig-storage';

/** Programs by the reference that the manifests name. What the newest module makes stands for the release that they want. */
const PROGRAMS: Readonly<Record<string, ReferenceTool>> = {
  [`${SIDECARS}/csi-attacher:v4.10.0`]: 'csi-attacher',
  [`${SIDECARS}/csi-node-driver-registrar:v2.15.0`]: 'csi-node-driver-registrar',
  [`${SIDECARS}/csi-provisioner:v6.0.0`]: 'csi-provisioner',
  [`${SIDECARS}/csi-resizer:v2.0.0`]: 'csi-resizer',
  [`${SIDECARS}/hostpathplugin:v1.17.0`]: 'csi-mock-driver',
};

/** Path of an archive of the images that the suite's pods of a mock CSI driver run: a static program each, and nothing else. */
export async function csiImages(): Promise<string> {
  const programs: [string, string][] = [];
  for (const [ref, tool] of Object.entries(PROGRAMS)) programs.push([ref, await referenceTool(tool)]);
  const mark = await fingerprint(
    programs.map(([, program]) => program),
    ['csi-images.ts', 'debian-layers.ts'],
  );
  return keptArchive(`csi-${mark}.tar`, () =>
    Promise.all(
      programs.map(async ([ref, program]) => ({
        ref,
        config: { Entrypoint: ['/program'], Labels: { ref } },
        layers: [await programLayer('program', program, 0o755)],
      })),
    ),
  );
}
