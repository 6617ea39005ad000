import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hasContainer, logTarget } from '../../../actors/serve/container-logs/container-logs-routes.ts';
import type { ContainerStatus, Pod } from '../../../machines/protocol/api-types.ts';

function podWith(status: Partial<ContainerStatus>, kind = 'containerStatuses'): Pod {
  const full = { name: 'c', image: '', imageID: '', ready: false, restartCount: 0, ...status };
  return { metadata: { name: 'p' }, spec: { containers: [{ name: 'c' }] }, status: { [kind]: [full] } };
}

const ended = (containerID?: string) => ({ terminated: { exitCode: 0, ...(containerID && { containerID }) } });
const cases: [name: string, status: Partial<ContainerStatus>, previous: boolean, expected: string][] = [
  ['running', { state: { running: {} }, containerID: 'x://1' }, false, 'x://1'],
  ['terminated', { state: ended('x://1') }, false, 'x://1'],
  ['terminated without own ID', { state: ended(), lastState: ended('x://0') }, false, 'x://0'],
  ['terminated, no ID at all', { state: ended() }, false, '!container "c" in pod "p" is terminated'],
  [
    'between restarts',
    { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: ended('x://0') },
    false,
    'x://0',
  ],
  ['last without ID', { state: { waiting: {} }, lastState: ended() }, false, '!container "c" in pod "p" is terminated'],
  ['previous', { state: { running: {} }, containerID: 'x://1', lastState: ended('x://0') }, true, 'x://0'],
  ['no previous', { state: { running: {} } }, true, '!previous terminated container "c" in pod "p" not found'],
  ['previous without ID', { lastState: ended() }, true, '!previous terminated container "c" in pod "p" not found'],
  [
    'ErrImagePull',
    { state: { waiting: { reason: 'ErrImagePull' } } },
    false,
    `!container "c" in pod "p" is waiting to start: image can't be pulled`,
  ],
  [
    'ImagePullBackOff',
    { state: { waiting: { reason: 'ImagePullBackOff' } } },
    false,
    '!container "c" in pod "p" is waiting to start: trying and failing to pull image',
  ],
  [
    'other reasons',
    { state: { waiting: { reason: 'ContainerCreating' } } },
    false,
    '!container "c" in pod "p" is waiting to start: ContainerCreating',
  ],
  ['no state', {}, false, '!container "c" in pod "p" is waiting to start - no logs yet'],
];

for (const [name, status, previous, expected] of cases)
  test(`which log: ${name}`, () => {
    for (const kind of ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses']) {
      const target = logTarget(podWith(status, kind), 'c', previous);
      assert.equal('problem' in target ? `!${target.problem}` : target.containerID, expected);
    }
  });

test('a container without status is not available', () => {
  assert.deepEqual(logTarget({ metadata: { name: 'p' } }, 'c"', false), {
    problem: 'container "c\\"" in pod "p" is not available',
  });
});

test('containers of all kinds are known', () => {
  const pod: Pod = {
    spec: { containers: [{ name: 'a' }], initContainers: [{ name: 'b' }], ephemeralContainers: [{ name: 'c' }] },
  };
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((name) => hasContainer(pod, name)),
    [true, true, true, false],
  );
});
