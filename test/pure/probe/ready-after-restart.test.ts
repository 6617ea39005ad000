/** Kubelet setReadyStateOnKubeletRestart: what is told of a container whose readiness probe has not run since the agent began. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PodCondition } from '../../../machines/protocol/api-types.ts';
import { pod, PodWorld } from '../pod/pod-world.ts';

const readinessProbe = { exec: { command: ['p'] }, periodSeconds: 10, failureThreshold: 3, successThreshold: 1 };
const container = { name: 'c', image: 'img:1', imagePullPolicy: 'IfNotPresent', readinessProbe };

/** An agent without memory finds a running container of a pod that the API knows with these conditions; its probe hangs. */
function takenOver(conditions: PodCondition[] | undefined): boolean | undefined {
  const definition = pod({ containers: [container] });
  const first = new PodWorld(definition, null, undefined, true, 'api');
  first.run(5_000);
  const known = { ...definition, ...(conditions !== undefined && { status: { conditions } }) };
  const next = new PodWorld(known, null, first, false, 'api');
  next.answers['cri.ExecSync'] = () => 'hang';
  next.begin(null, true);
  next.run(1_000);
  assert.deepEqual(next.running(), ['c']);
  return next.status?.containerStatuses?.[0]?.ready;
}

test('without memory a container is ready before its readiness probe has run only if its pod was Ready', () => {
  assert.equal(takenOver([{ type: 'Ready', status: 'True' }]), true);
  assert.equal(takenOver([{ type: 'Ready', status: 'False' }]), false);
  assert.equal(takenOver([{ type: 'ContainersReady', status: 'True' }]), false, 'the readiness gates count as well');
  assert.equal(takenOver(undefined), false);
});

test('with memory what the probe had said holds, whatever the API tells', () => {
  const definition = pod({ containers: [container] });
  const first = new PodWorld(definition, null, undefined, true, 'api');
  first.run(5_000);
  const next = new PodWorld(definition, first.memory, first, false, 'api');
  next.answers['cri.ExecSync'] = () => 'hang';
  next.begin(first.memory, true);
  next.run(1_000);
  assert.equal(next.status?.containerStatuses?.[0]?.ready, true);
});
