import { dirname } from 'node:path';
import { PATIENT, shell } from '../../../containerd/agent/support/test-pod.ts';
import type { ContainerWish } from '../../../containerd/agent/support/test-pod.ts';
import { clusterTool } from '../../support/cluster-tool.ts';
import { apiPod } from '../../support/manifests.ts';
import type { Manifest } from '../../support/api-objects.ts';

/** Port of the echo server in {@link workPod}. */
export const ECHO_PORT = 8080;

/** A pod to work in: container `main` with a shell, container `echo` with an echo server on {@link ECHO_PORT}. */
export async function workPod(name: string, nodeName: string, more: readonly ContainerWish[] = []): Promise<Manifest> {
  const program = await clusterTool('stream-client');
  const volumeMounts = [{ name: 'tools', mountPath: '/tools', readOnly: true }];
  const echo = {
    ...shell('echo', ''),
    command: ['/tools/stream-client', 'echo', '-port', String(ECHO_PORT)],
    volumeMounts,
  };
  const main = {
    ...shell(
      'main',
      'trap "kill $!; exit 0" TERM; echo ready; usleep 300000; echo trouble >&2; touch /tmp/told; sleep 100000 & wait $!',
    ),
    // Ready once its log has both lines.
    readinessProbe: { exec: { command: ['test', '-e', '/tmp/told'] }, periodSeconds: 1, ...PATIENT },
  };
  return apiPod(name, [main, echo, ...more], {
    nodeName,
    terminationGracePeriodSeconds: 1,
    volumes: [{ name: 'tools', hostPath: { path: dirname(program), type: 'Directory' } }],
  });
}
