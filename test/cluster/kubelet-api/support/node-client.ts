import type { ControlPlane } from '../../support/control-plane.ts';

/** Files of a client that may use all of a kubelet's API. */
export interface NodeClient {
  cert: string;
  key: string;
  ca: string;
}

const USER = 'node-tester';
const bound = new WeakMap<ControlPlane, Promise<unknown>>();

/** A client certificate of a user of the role `system:kubelet-api-admin`. */
export async function nodeClient(plane: ControlPlane): Promise<NodeClient> {
  const group = 'rbac.authorization.k8s.io';
  const binding = {
    metadata: { name: USER },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: 'system:kubelet-api-admin' },
    subjects: [{ apiGroup: group, kind: 'User', name: USER }],
  };
  const made = bound.get(plane) ?? plane.api.post(`/apis/${group}/v1/clusterrolebindings`, binding);
  bound.set(plane, made);
  await made;
  const pair = await plane.pki.issue(USER, USER, 'testers');
  return { ...pair, ca: plane.pki.ca.cert };
}
