import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PodSandboxState } from '../../../cri/generated/runtime/v1/api.ts';
import { countedSandboxes, measuredPods } from '../../../actors/resources/stats/runtime-listing.ts';
import { container, criStats, sandbox } from './support/fake-node.ts';

const { SANDBOX_NOTREADY: state } = PodSandboxState;

describe('what counts as running', () => {
  it('a sandbox alone counts even when it is not ready', () => {
    assert.deepEqual(
      countedSandboxes([sandbox('1', 'a', { state })]).map(({ id }) => id),
      ['1'],
    );
  });

  it('of many of one name all that are ready count', () => {
    const all = [
      sandbox('1', 'a', { state, createdAt: '3' }),
      sandbox('2', 'a', { createdAt: '1' }),
      sandbox('3', 'a', { createdAt: '2' }),
      sandbox('4', 'b', { createdAt: '2' }),
    ];
    assert.deepEqual(
      countedSandboxes(all)
        .map(({ id }) => id)
        .sort(),
      ['2', '3', '4'],
    );
  });

  it('the newest when none is ready; other namespaces are others', () => {
    const metadata = { name: 'a', namespace: 'other', uid: 'x', attempt: 0 };
    const all = [
      sandbox('1', 'a', { state, createdAt: '10' }),
      sandbox('2', 'a', { state, createdAt: '9' }),
      sandbox('3', 'a', { state, metadata }),
    ];
    assert.deepEqual(
      countedSandboxes(all)
        .map(({ id }) => id)
        .sort(),
      ['1', '3'],
    );
  });

  it('usage of what does not run, or whose sandbox does not count, is dropped', () => {
    const running = {
      containers: new Map(['c1', 'c2', 'c3'].map((id) => [id, container(id, id === 'c3' ? 'gone' : 's', id)])),
      sandboxes: new Map([['s', sandbox('s', 'a')]]),
    };
    const stats = ['c2', 'c3', 'dead', 'c1'].map((id) => criStats(id, id));
    const [pod, ...more] = measuredPods(running, stats);
    assert.equal(more.length, 0);
    assert.deepEqual(
      pod?.containers.map((each) => each.container.id),
      ['c2', 'c1'],
    );
  });
});
