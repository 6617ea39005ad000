import { join } from 'node:path';
import { DaemonProcess } from '../../../bin/control-plane/daemon-process.ts';
import { referenceTool } from '../../tools/reference-tool.ts';
import type { ControlPlane } from './control-plane.ts';
import { writeKubeconfig } from '../../../bin/control-plane/kubeconfig.ts';

const GROUP = 'rbac.authorization.k8s.io';
const USER = 'csi-attacher';

/** What its own deployment lets it do (`external-attacher-runner`). */
const RULES = [
  { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: ['storage.k8s.io'], resources: ['csinodes'], verbs: ['get', 'list', 'watch'] },
  { apiGroups: ['storage.k8s.io'], resources: ['volumeattachments'], verbs: ['get', 'list', 'watch', 'patch'] },
  { apiGroups: ['storage.k8s.io'], resources: ['volumeattachments/status'], verbs: ['patch'] },
];

/**
 * Kubernetes' own external attacher for the driver at this socket, with the rights that it is deployed with. The caller ends it, before another one of the
 * same control plane.
 */
export async function startAttacher(plane: ControlPlane, socket: string): Promise<DaemonProcess> {
  const roles = `/apis/${GROUP}/v1/clusterroles`;
  if ((await plane.api.find(`${roles}/${USER}`)) === undefined) {
    await plane.api.post(roles, { metadata: { name: USER }, rules: RULES });
    await plane.api.post(`/apis/${GROUP}/v1/clusterrolebindings`, {
      metadata: { name: USER },
      roleRef: { apiGroup: GROUP, kind: 'ClusterRole', name: USER },
      subjects: [{ apiGroup: GROUP, kind: 'User', name: USER }],
    });
  }
  const kubeconfig = join(plane.dir, `${USER}.kubeconfig`);
  await writeKubeconfig(kubeconfig, plane.server, plane.pki.ca.cert, await plane.pki.issue(USER, USER, USER));
  return new DaemonProcess({
    name: USER,
    program: await referenceTool('csi-attacher'),
    args: ['--kubeconfig', kubeconfig, '--csi-address', socket, '--v', '4', '--retry-interval-max', '2s'],
    logFile: join(plane.dir, 'logs', `${USER}.log`),
  });
}
