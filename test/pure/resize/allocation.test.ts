import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { actuatedOf, withActuated } from '../../../machines/resize/actuated.ts';
import { allocationOf, withAllocation } from '../../../machines/resize/allocation.ts';
import { checkpointSum, checkpointText, readCheckpoint } from '../../../machines/resize/checkpoint.ts';
import { resizeOperations } from '../../../machines/resize/resize-operations.ts';
import { apiPod, sized } from './resize-pods.ts';

describe('allocation (KEP-1287: a pod runs with what was allocated to it)', () => {
  test('the spec of regular containers and sidecars gives way to the allocation, that of init containers does not', () => {
    const init = { name: 'i', image: 'img', resources: { requests: { cpu: '1' } } };
    const sidecar = { name: 's', image: 'img', restartPolicy: 'Always', resources: { requests: { cpu: '1' } } };
    const before = { ...apiPod([sized('c', '1', '1Gi')]) };
    before.spec = { ...before.spec, initContainers: [init, sidecar], containers: before.spec?.containers ?? [] };
    const allocation = allocationOf(before);
    assert.deepEqual(Object.keys(allocation.ContainerResources).sort(), ['c', 's']);
    const after = structuredClone(before);
    for (const container of [...(after.spec?.initContainers ?? []), ...(after.spec?.containers ?? [])])
      container.resources = { requests: { cpu: '2' } };
    const runs = withAllocation(after, allocation);
    assert.deepEqual(runs.spec?.containers[0]?.resources, before.spec?.containers[0]?.resources);
    assert.equal(runs.spec?.initContainers?.[1]?.resources?.requests?.['cpu'], '1');
    assert.equal(runs.spec?.initContainers?.[0]?.resources?.requests?.['cpu'], '2');
  });

  test('amounts are compared by value: nothing changes, and the pod is the same object', () => {
    const pod = apiPod([sized('c', '1000m', '1024Mi')]);
    assert.equal(withAllocation(pod, allocationOf(apiPod([sized('c', '1', '1Gi')]))), pod);
  });

  test('each kind of change is counted as kubelet names it', () => {
    const from = apiPod([{ ...sized('c', '1', '1Gi') }]);
    const to = apiPod([
      { name: 'c', image: 'img', resources: { requests: { cpu: '2', memory: '512Mi' }, limits: { memory: '1Gi' } } },
    ]);
    assert.deepEqual(
      resizeOperations(from, to).map((o) => `${o.resource} ${o.requirement} ${o.operation}`),
      ['memory requests decrease', 'cpu requests increase', 'cpu limits remove'],
    );
  });
});

describe('checkpoints in the form of kubelet 1.35', () => {
  const data = '{"entries":{"pod1":{"ContainerResources":{"container1":{"requests":{"cpu":"1Ki","memory":"1Ki"}}}}}}';

  test("the checksum is kubelet's (a value of its own tests)", () => {
    assert.equal(checkpointSum(data), 1178570812);
    const read = readCheckpoint(JSON.stringify({ data, checksum: 1178570812 }));
    assert.deepEqual(read?.['pod1']?.ContainerResources['container1']?.requests, { cpu: '1Ki', memory: '1Ki' });
  });

  test('the text is what kubelet writes: sorted, limits before requests', () => {
    const entries = {
      b: { ContainerResources: {}, PodLevelResources: null },
      a: {
        ContainerResources: { c1: { requests: { memory: '20Mi', cpu: '20m' }, limits: { cpu: '30m' } }, 'c1-init': {} },
        PodLevelResources: null,
      },
    };
    const text = checkpointText(entries);
    const written = JSON.parse(text) as { data: string; checksum: number };
    assert.equal(
      written.data,
      '{"entries":{"a":{"ContainerResources":{"c1":{"limits":{"cpu":"30m"},"requests":{"cpu":"20m","memory":"20Mi"}},"c1-init":{}},"PodLevelResources":null},"b":{"ContainerResources":{},"PodLevelResources":null}}}',
    );
    assert.deepEqual(readCheckpoint(text), { a: entries.a, b: entries.b });
  });

  test('no pods: an empty object; what is damaged is not read', () => {
    assert.equal((JSON.parse(checkpointText({})) as { data: string }).data, '{}');
    assert.deepEqual(readCheckpoint(checkpointText({})), {});
    assert.equal(readCheckpoint(JSON.stringify({ data, checksum: 1 })), null);
    assert.equal(readCheckpoint('{"data":'), null);
  });
});

describe('what was actuated', () => {
  test('a resize that an earlier agent left half done goes on', () => {
    const allocated = apiPod([sized('c', '2', '1Gi'), sized('d', '1', '1Gi')], 3);
    const checkpoint = actuatedOf(apiPod([sized('c', '1', '1Gi'), sized('d', '1', '1Gi')]), undefined);
    const memory = withActuated(null, allocated, checkpoint, 5000);
    assert.deepEqual(Object.keys(memory?.resize?.actuated ?? {}), ['c']);
    assert.equal(memory?.resize?.generation, 3);
    assert.equal(withActuated(null, allocated, actuatedOf(allocated, undefined), 5000), null);
    assert.equal(withActuated(null, allocated, undefined, 5000), null, 'nothing is known: what is allocated counts');
  });

  test('what a kubelet noted of the whole pod goes on where the gate is on', () => {
    const whole = { limits: { cpu: '2' } };
    const allocated = apiPod([{ name: 'c', image: 'img' }], 2, 'u1', whole);
    const checkpoint = {
      ContainerResources: { c: { limits: { cpu: '1' } } },
      PodLevelResources: { limits: { cpu: '1' } },
    };
    const gated = withActuated(null, allocated, checkpoint, 5, { podLevelResizes: true });
    assert.deepEqual(gated?.resize?.actuated, { c: { limits: { cpu: '1' } } });
    assert.deepEqual(gated.resize.podLevel, { limits: { cpu: '1' } });
    const inForce = { ContainerResources: { c: whole }, PodLevelResources: whole };
    assert.equal(withActuated(null, allocated, inForce, 5, { podLevelResizes: true }), null);
    const unknown = { ContainerResources: { c: whole }, PodLevelResources: null };
    assert.equal(withActuated(null, allocated, unknown, 5, { podLevelResizes: true }), null);
    assert.equal(withActuated(null, allocated, checkpoint, 5)?.resize?.podLevel, undefined);
  });

  test('what the actor remembers is newer than the checkpoint', () => {
    const allocated = apiPod([sized('c', '2', '1Gi')]);
    const resize = { generation: 2, since: 1, error: '', actuated: {} };
    const memory = { containers: {}, probes: {}, messages: {}, resize };
    assert.equal(withActuated(memory, allocated, actuatedOf(apiPod([sized('c', '1', '1Gi')]), undefined), 5), memory);
  });
});
