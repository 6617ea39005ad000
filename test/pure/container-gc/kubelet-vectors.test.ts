/** What kubelet's own tests of its container GC ask (kuberuntime_gc_test.go, 1.35.4), by the number of what remains. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { idOfLogLink, uidOfLogFolder } from '../../../actors/host/logs/pod-logs.ts';
import type {
  ContainerGcPolicy,
  DeadContainer,
  Fate,
  ListedSandbox,
} from '../../../machines/container-gc/container-gc-context.ts';
import { containersToRemove, foldersToRemove, sandboxesToRemove } from '../../../machines/container-gc/evictable.ts';

const HOUR = 3_600_000;
const NOW = 1_700_000_000_000;

/** `pod`, number, and when it was made, ns after the epoch; `running` ones are not told of. */
type Made = [pod: string, attempt: number, createdAt: number, running?: 'running'];

interface ContainerCase {
  what: string;
  containers: Made[];
  policy?: ContainerGcPolicy;
  remain: number[];
  all?: boolean;
  ready?: boolean;
}

const USUAL: ContainerGcPolicy = { minAgeMs: HOUR, maxPerContainer: 2, maxContainers: 6 };
const policy = (minutes: number, maxPerContainer: number, maxContainers: number): ContainerGcPolicy => ({
  ...{ minAgeMs: minutes * 60_000, maxPerContainer, maxContainers },
});
const NEW = NOW * 1e6;

const CONTAINERS: ContainerCase[] = [
  {
    what: 'all containers should be removed when max container limit is 0',
    containers: [['foo', 0, 0]],
    policy: policy(1, 1, 0),
    remain: [],
  },
  {
    what: 'max containers should be complied when no max per pod container limit is set',
    containers: [4, 3, 2, 1, 0].map((n) => ['foo', n, n]),
    policy: policy(1, -1, 4),
    remain: [0, 1, 2, 3],
  },
  {
    what: 'no containers should be removed if both max container and per pod container limits are not set',
    containers: [2, 1, 0].map((n) => ['foo', n, n]),
    policy: policy(1, -1, -1),
    remain: [0, 1, 2],
  },
  {
    what: 'recently started containers should not be removed',
    containers: [2, 1, 0].map((n) => ['foo', n, NEW]),
    remain: [0, 1, 2],
  },
  {
    what: 'oldest containers should be removed when per pod container limit exceeded',
    containers: [2, 1, 0].map((n) => ['foo', n, n]),
    remain: [0, 1],
  },
  {
    what: 'running containers should not be removed',
    containers: [
      ['foo', 2, 2],
      ['foo', 1, 1],
      ['foo', 0, 0, 'running'],
    ],
    remain: [0, 1, 2],
  },
  {
    what: 'no containers should be removed when limits are not exceeded',
    containers: [1, 0].map((n) => ['foo', n, n]),
    remain: [0, 1],
  },
  {
    what: 'max container count should apply per (UID, container) pair',
    containers: ['foo', 'foo1', 'foo2'].flatMap((pod) => [2, 1, 0].map((n): Made => [pod, n, n])),
    remain: [0, 1, 3, 4, 6, 7],
  },
  {
    what: 'max limit should apply and try to keep from every pod',
    containers: ['foo', 'foo1', 'foo2', 'foo3', 'foo4'].flatMap((pod) => [1, 0].map((n): Made => [pod, n, n])),
    remain: [0, 2, 4, 6, 8],
  },
  {
    what: 'oldest pods should be removed if limit exceeded',
    containers: [
      ['foo', 2, 2],
      ['foo', 1, 1],
      ['foo1', 2, 2],
      ['foo1', 1, 1],
      ['foo2', 1, 1],
      ['foo3', 0, 0],
      ['foo4', 1, 1],
      ['foo5', 0, 0],
      ['foo6', 2, 2],
      ['foo7', 1, 1],
    ],
    remain: [0, 2, 4, 6, 8, 9],
  },
  {
    what: 'all non-running containers should be removed when evictTerminatingPods is set',
    containers: [
      ['foo', 2, 2],
      ['foo', 1, 1],
      ['foo1', 2, 2],
      ['foo1', 1, 1],
      ['running', 1, 1],
      ['foo3', 0, 0, 'running'],
    ],
    remain: [4, 5],
    all: true,
  },
  {
    what: 'containers for deleted pods should be removed (and still respect MinAge)',
    containers: [
      ['foo', 1, 1],
      ['foo', 0, 0],
      ['deleted', 2, NEW],
      ['deleted', 1, 1],
      ['deleted', 0, 0],
    ],
    remain: [0, 1, 2],
  },
  {
    what: 'containers for deleted pods may not be removed if allSourcesReady is set false',
    containers: [['deleted', 0, 0]],
    remain: [0],
    all: true,
    ready: false,
  },
];

function fateOf(pod: string): Fate {
  if (pod === 'deleted') return 'gone';
  return pod === 'running' ? 'lives' : 'ended';
}

for (const { what, containers, policy: own, remain, all = false, ready = true } of CONTAINERS) {
  test(`kubelet, containers: ${what}`, () => {
    const dead = containers.flatMap(([uid, attempt, ns, running], i): DeadContainer[] =>
      running !== undefined
        ? []
        : [
            {
              ...{ id: String(i), uid, name: 'bar', attempt, createdAt: ns / 1e6 },
              ...{ unknown: false, fate: fateOf(uid), needed: false },
            },
          ],
    );
    const gone = containersToRemove(dead, own ?? USUAL, { at: NOW, all, ready }).map(({ id }) => Number(id));
    assert.deepEqual(
      containers.map((_, i) => i).filter((i) => !gone.includes(i)),
      remain,
    );
    assert.equal(new Set(gone).size, gone.length, 'none twice');
  });
}

interface SandboxCase {
  what: string;
  /** Pod, ready, made at; `holds`: it has containers. */
  sandboxes: { pod: string; ready?: boolean; at?: number; holds?: boolean; fate?: Fate }[];
  remain: number[];
  all?: boolean;
}

const SANDBOXES: SandboxCase[] = [
  {
    what: 'notready sandboxes without containers for deleted pods should be garbage collected',
    sandboxes: [{ pod: 'deleted', fate: 'gone' }],
    remain: [],
  },
  {
    what: 'ready sandboxes without containers for deleted pods should not be garbage collected',
    sandboxes: [{ pod: 'deleted', fate: 'gone', ready: true }],
    remain: [0],
  },
  {
    what: 'sandboxes for existing pods should not be garbage collected',
    sandboxes: [{ pod: 'foo1', ready: true }, { pod: 'foo2' }],
    remain: [0, 1],
  },
  {
    what: 'older exited sandboxes without containers for existing pods should be garbage collected if there are more than one',
    sandboxes: [
      { pod: 'foo1', at: 1 },
      { pod: 'foo1', at: 0 },
    ],
    remain: [0],
  },
  {
    what: 'older exited sandboxes with containers for existing pods should not be garbage collected',
    sandboxes: [
      { pod: 'foo1', at: 1 },
      { pod: 'foo1', at: 0, holds: true },
    ],
    remain: [0, 1],
  },
  {
    what: 'non-running sandboxes for existing pods should be garbage collected if evictTerminatingPods is set',
    sandboxes: [
      { pod: 'foo1', ready: true, fate: 'ended' },
      { pod: 'foo2', fate: 'ended' },
    ],
    remain: [0],
    all: true,
  },
  {
    what: 'sandbox with containers should not be garbage collected',
    sandboxes: [{ pod: 'foo1', holds: true }],
    remain: [0],
  },
  {
    what: 'multiple sandboxes should be handled properly',
    sandboxes: [
      { pod: 'foo1', ready: true, at: 1 },
      { pod: 'foo1', at: 0 },
      { pod: 'foo2', at: 1, holds: true },
      { pod: 'foo2', at: 0 },
      { pod: 'deleted', fate: 'gone' },
    ],
    remain: [0, 2],
  },
];

for (const { what, sandboxes, remain, all = false } of SANDBOXES) {
  test(`kubelet, sandboxes: ${what}`, () => {
    const listed = sandboxes.map(({ pod, ready = false, at = 0, holds = false, fate = 'lives' }, i): ListedSandbox => ({
      ...{ id: String(i), uid: pod, createdAt: at, active: ready || holds, fate },
    }));
    const gone = sandboxesToRemove(listed, all).map(({ id }) => Number(id));
    assert.deepEqual(
      sandboxes.map((_, i) => i).filter((i) => !gone.includes(i)),
      remain,
    );
  });
}

test('kubelet, folders of logs: those of pods that are gone go, once all sources are ready', () => {
  const names = ['123', '456', '789', '012', 'name_namespace_321', 'name_namespace_654'];
  const removed = ['789', '012', '654'];
  const folders = names.map((name) => ({
    name,
    fate: removed.includes(uidOfLogFolder(name)) ? ('gone' as const) : ('lives' as const),
  }));
  assert.deepEqual(foldersToRemove(folders, true), ['789', '012', 'name_namespace_654']);
  assert.deepEqual(foldersToRemove(folders, false), []);
});

test("a link's container is what stands behind the last dash", () => {
  assert.equal(idOfLogLink('web-1_my-ns_app-0123abc.log'), '0123abc');
  assert.equal(idOfLogLink('plain.log'), '');
  assert.equal(idOfLogLink('a-b'), '');
});
