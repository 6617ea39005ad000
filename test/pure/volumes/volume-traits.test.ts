/** What comes back with volumes beside where they are. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUpVolumes } from '../../../actors/host/volumes/volumes.ts';
import type { MountedVolume } from '../../../machines/protocol/volume-traits.ts';
import { folder, memoryLog } from '../journal/journal-fixture.ts';

test('what the main thread knows of its volumes comes back with the set-up; nothing where it knows nothing', async (t) => {
  const rootDir = folder(t);
  const known: Record<string, MountedVolume> = {
    plain: { path: '/p' },
    one: { path: '/1', group: '1234', relabel: true },
    two: { path: '/2', group: '1234' },
    also: { path: '/3', group: '99', relabel: true },
  };
  const settings = {
    ...({
      rootDir,
      podLogsDir: rootDir,
      containerLogsDir: rootDir,
      cgroupVersion: 2,
      cgroupDriver: 'cgroupfs',
    } as const),
    log: memoryLog().log,
    askNode: ((_what: string, { volume }: { volume: string }) => Promise.resolve(known[volume])) as never,
  };
  const setUp = (...names: string[]) =>
    setUpVolumes(
      {
        podUid: 'u',
        owner: { namespace: 'ns', name: 'p', serviceAccount: 'default' },
        volumes: names.map((name) => ({ name, kind: 'persistentVolumeClaim' as const })),
      },
      settings,
    );
  assert.deepEqual(await setUp('plain'), { paths: { plain: '/p' } });
  assert.deepEqual(await setUp('two', 'one', 'plain', 'also'), {
    paths: { two: '/2', one: '/1', plain: '/p', also: '/3' },
    traits: { groups: ['1234', '99'], relabelled: ['also', 'one'] },
  });
});
