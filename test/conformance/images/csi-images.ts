import { referenceTool } from '../../tools/reference-tool.ts';
import type { ReferenceTool } from '../../tools/reference-tool.ts';
import { busyboxLayer, findStaticBusybox } from '../../../cri/image-maker/root-filesystem.ts';
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

/** What the suite's driver of dynamic resources is reached by (testing-manifests/dra): the same program, with commands beside it. */
const PROXY = `${SIDECARS}/hostpathplugin:v1.16.1`;

/**
 * Path of an archive of the images that the suite's pods of a mock CSI driver run, a static program each and nothing else, and of what hands
 * on to its driver of dynamic resources.
 */
export async function csiImages(): Promise<string> {
  const busybox = await findStaticBusybox();
  const programs: [string, string][] = [];
  for (const [ref, tool] of Object.entries(PROGRAMS)) programs.push([ref, await referenceTool(tool)]);
  const mark = await fingerprint(
    [...programs.map(([, program]) => program), busybox],
    ['csi-images.ts', 'debian-layers.ts'],
  );
  const proxy = async () => ({
    ref: PROXY,
    config: { Labels: { ref: PROXY } },
    layers: [
      await busyboxLayer(busybox, ['cat', 'cp', 'ls', 'mkdir', 'mv', 'rm', 'sh', 'sleep', 'tee', 'touch']),
      await programLayer('hostpathplugin', await referenceTool('csi-mock-driver'), 0o755),
    ],
  });
  return keptArchive(`csi-${mark}.tar`, () =>
    Promise.all([
      proxy(),
      ...programs.map(async ([ref, program]) => ({
        ref,
        config: { Entrypoint: ['/program'], Labels: { ref } },
        layers: [await programLayer('program', program, 0o755)],
      })),
    ]),
  );
}
