import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { allocatedRequests } from '../../../machines/admission/allocated-requests.ts';
import { portsConflict } from '../../../machines/admission/host-ports.ts';
import {
  NO_USAGE,
  holdsAny,
  isCounted,
  podsWithout,
  resourcesWithout,
  usageOf,
  withPod,
  withoutPod,
} from '../../../machines/admission/node-usage.ts';
import type { ContainerStatus, Pod } from '../../../machines/protocol/api-types.ts';
import { container, pod } from './admission-input.ts';

const random = fc.record({
  uid: fc.integer({ min: 0, max: 6 }),
  cpu: fc.integer({ min: 0, max: 2_000_000 }),
  gpu: fc.integer({ min: 0, max: 2 }),
  port: fc.constantFrom(0, 80, 81),
  remove: fc.boolean(),
});

describe('the usage of a node', () => {
  test('a running sum is what adding all up gives', () => {
    fc.assert(
      fc.property(fc.array(random, { maxLength: 40 }), (steps) => {
        let usage = NO_USAGE;
        const pods = new Map<string, Pod>();
        for (const { uid, cpu, gpu, port, remove } of steps) {
          const name = `p${uid}`;
          const requests = { cpu: `${cpu}u`, 'example.com/gpu': String(gpu) };
          const ports = [{ containerPort: 1, ...(port ? { hostPort: port } : {}) }];
          const each = pod(name, { containers: [container('main', requests, { ports })] });
          if (remove) {
            pods.delete(name);
            usage = withoutPod(usage, `uid-${name}`);
          } else {
            pods.set(name, each);
            usage = withPod(usage, each);
          }
        }
        const whole = usageOf(pods.values());
        for (const uid of ['', 'uid-p0', 'uid-p3']) {
          assert.equal(podsWithout(usage, uid), podsWithout(whole, uid));
          const [a, b] = [resourcesWithout(usage, uid), resourcesWithout(whole, uid)];
          assert.equal(a.cpu, b.cpu);
          assert.equal(a.scalars['example.com/gpu'] ?? 0, b.scalars['example.com/gpu'] ?? 0);
          for (const port of ['TCP/80', 'TCP/81']) {
            const wanted = [{ ip: '0.0.0.0', port }];
            assert.equal(holdsAny(usage, wanted, uid), holdsAny(whole, wanted, uid));
          }
        }
      }),
    );
  });

  test('a pod that is counted again counts once, by its new values', () => {
    const before = usageOf([pod('a', { containers: [container('main', { cpu: '1' })] })]);
    const usage = withPod(before, pod('a', { containers: [container('main', { cpu: '2' })] }));
    assert.equal(podsWithout(usage, ''), 1);
    assert.equal(resourcesWithout(usage, '').cpu, 2000);
    assert.equal(resourcesWithout(usage, 'uid-a').cpu, 0);
    assert.equal(resourcesWithout(before, '').cpu, 1000, 'what was before stays as it was');
    assert.equal(isCounted(usage, 'uid-a'), true);
    assert.equal(isCounted(withoutPod(usage, 'uid-a'), 'uid-a'), false);
  });

  test('ports of sidecars count, those of init containers that end do not', () => {
    const port = (hostPort: number) => ({ ports: [{ containerPort: 1, hostPort, protocol: 'UDP' }] });
    const usage = usageOf([
      pod('a', {
        initContainers: [
          container('init', undefined, port(1)),
          container('side', undefined, { ...port(2), restartPolicy: 'Always' }),
        ],
      }),
    ]);
    assert.equal(holdsAny(usage, [{ ip: '0.0.0.0', port: 'UDP/1' }], ''), false);
    assert.equal(holdsAny(usage, [{ ip: '0.0.0.0', port: 'UDP/2' }], ''), true);
    assert.equal(holdsAny(usage, [{ ip: '0.0.0.0', port: 'TCP/2' }], ''), false);
    assert.equal(holdsAny(usage, [{ ip: '0.0.0.0', port: 'UDP/2' }], 'uid-a'), false);
  });

  test('two addresses do not exclude each other, all addresses exclude each', () => {
    const at = (ip: string) => ({ ip, port: 'TCP/80' });
    assert.equal(portsConflict(at('10.0.0.1'), at('10.0.0.2')), false);
    assert.equal(portsConflict(at('10.0.0.1'), at('10.0.0.1')), true);
    assert.equal(portsConflict(at('0.0.0.0'), at('10.0.0.1')), true);
    assert.equal(portsConflict(at('10.0.0.1'), at('0.0.0.0')), true);
  });
});

describe('allocatedRequests', () => {
  const resized = (own: string, given: string, has: string, reason?: string): Pod => {
    const state = {
      name: 'main',
      allocatedResources: { cpu: given },
      resources: { requests: { cpu: has } },
    } as unknown as ContainerStatus;
    const conditions = reason ? [{ type: 'PodResizePending', status: 'True', reason }] : [];
    return {
      ...pod('a', { containers: [container('main', { cpu: own })] }),
      status: { phase: 'Running', containerStatuses: [state], conditions },
    };
  };
  const cpu = (each: Pod): bigint | undefined => allocatedRequests(each)['cpu'];

  test('during a resize the greatest of wanted, given and held counts', () => {
    assert.equal(cpu(resized('3', '1', '2')), 3_000_000_000n);
    assert.equal(cpu(resized('1', '3', '2')), 3_000_000_000n);
    assert.equal(cpu(resized('1', '2', '3000m')), 3_000_000_000n);
    assert.equal(cpu(resized('3', '1', '2', 'Deferred')), 3_000_000_000n);
  });

  test('what a resize that cannot be done wants does not count', () => {
    assert.equal(cpu(resized('3', '1', '2', 'Infeasible')), 2_000_000_000n);
  });
});
