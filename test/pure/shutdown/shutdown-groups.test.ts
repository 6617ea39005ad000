import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configuredGroups, graceIn, groupByPriority, periodOf } from '../../../machines/shutdown/shutdown-groups.ts';
import type { ShutdownGroup, ShutdownPod } from '../../../machines/shutdown/shutdown-groups.ts';

const CRITICAL = 2_000_000_000;

const periods = (
  all: number,
  critical: number,
  named: { priority: number; shutdownGracePeriodSeconds: number }[] = [],
) => ({
  shutdownGracePeriod: all * 1000,
  shutdownGracePeriodCriticalPods: critical * 1000,
  shutdownGracePeriodByPodPriority: named,
});
const pod = (priority: number): ShutdownPod => ({
  uid: `p${priority}`,
  namespace: 'default',
  name: `p${priority}`,
  priority,
});

/** Priorities of the pods of each group. */
function grouped(groups: ShutdownGroup[], priorities: number[]): number[][] {
  return groupByPriority(groups, priorities.map(pod)).map(({ pods }) => pods.map(({ priority }) => priority));
}

describe('groups that are configured (kubelet migrateConfig, newPodManager)', () => {
  it('makes two of the two periods: pods, and critical pods', () => {
    const two = (normal: number, critical: number) => [
      { priority: 0, seconds: normal },
      { priority: CRITICAL, seconds: critical },
    ];
    assert.deepEqual(configuredGroups(periods(300, 120), true), two(180, 120));
    assert.deepEqual(configuredGroups(periods(100, 0), true), two(100, 0));
    assert.deepEqual(configuredGroups(periods(0, 0), true), []);
    assert.deepEqual(configuredGroups(periods(1, 100), true), []);
  });

  it('takes named groups in the order of their priority, when the gate lets it', () => {
    const named = [
      { priority: 1_000, shutdownGracePeriodSeconds: 20 },
      { priority: -5, shutdownGracePeriodSeconds: 7 },
    ];
    assert.deepEqual(configuredGroups(periods(0, 0, named), true), [
      { priority: -5, seconds: 7 },
      { priority: 1_000, seconds: 20 },
    ]);
    assert.deepEqual(configuredGroups(periods(0, 0, named), false), []);
    assert.equal(periodOf(configuredGroups(periods(0, 0, named), true)), 27_000);
  });
});

describe('groups of pods (kubelet groupByPriority)', () => {
  it('takes all pods into a single group', () => {
    assert.deepEqual(grouped([{ priority: 0, seconds: 10 }], [-1, 0, 1, CRITICAL]), [[-1, 0, 1, CRITICAL]]);
  });

  it('takes a pod between two groups, and one on the boundary, into the lower one or its own', () => {
    const groups = [
      { priority: 10, seconds: 1 },
      { priority: 20, seconds: 2 },
      { priority: 30, seconds: 3 },
    ];
    assert.deepEqual(grouped(groups, [-7, 9, 10, 11, 19, 20, 29, 30, 31, CRITICAL]), [
      [-7, 9, 10, 11, 19],
      [20, 29],
      [30, 31, CRITICAL],
    ]);
  });

  it('is as kubelet of several groups of one priority: a search for the first that is not below', () => {
    const groups = [1, 5, 5, 5, 9].map((priority) => ({ priority, seconds: 1 }));
    for (let priority = -1; priority <= 11; priority++) {
      // sort.Search, and the three rules behind it.
      let index = groups.findIndex((group) => group.priority >= priority);
      if (index < 0) index = groups.length - 1;
      else if (index > 0 && (groups[index]?.priority ?? 0) > priority) index--;
      const own = grouped(groups, [priority]).findIndex((each) => each.length > 0);
      assert.equal(own, index, `priority ${priority}`);
    }
  });

  it('gives a pod its own grace period when that is shorter', () => {
    const group = { priority: 0, seconds: 30 };
    assert.equal(graceIn(group, pod(0)), 30);
    assert.equal(graceIn(group, { ...pod(0), graceSeconds: 5 }), 5);
    assert.equal(graceIn(group, { ...pod(0), graceSeconds: 0 }), 0);
    assert.equal(graceIn(group, { ...pod(0), graceSeconds: 100 }), 30);
  });
});
