import assert from 'node:assert/strict';
import { restartsOf } from '../../agent/support/seen.ts';
import type { TestNode } from '../../agent/support/test-node.ts';
import { PATIENT, podOf, runs } from '../../agent/support/test-pod.ts';

/** A pod that uses the root directory: an emptyDir, a hosts file, a termination log; with a probe each second. */
export function diskPod(name: string): Record<string, unknown> {
  const probe = { exec: { command: ['cat', '/e/ready'] }, periodSeconds: 1, ...PATIENT };
  const command = ['sh', '-c', 'touch /e/ready; trap "exit 0" TERM; while :; do sleep 0.1; done'];
  return podOf(name, [runs('a', { command, readinessProbe: probe, volumeMounts: [{ name: 'e', mountPath: '/e' }] })], {
    volumes: [{ name: 'e', emptyDir: { medium: 'Memory' } }],
  });
}

/** Fails unless the pod runs as it did: the same containers, Ready, never restarted, the agent healthy. */
export async function assertUntouched(node: TestNode, name: string, before: Record<string, string>): Promise<void> {
  assert.deepEqual(await node.running(name), before);
  const pod = await node.pod(name);
  assert.equal(pod?.status?.conditions?.find((c) => c.type === 'Ready')?.status, 'True', JSON.stringify(pod?.status));
  assert.ok(Object.values(restartsOf(pod)).every((count) => count === 0));
  const health = await fetch(`http://127.0.0.1:${node.ports.healthzPort}/healthz`);
  assert.equal(await health.text(), 'ok');
}
