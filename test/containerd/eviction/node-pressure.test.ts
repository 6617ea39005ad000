import assert from 'node:assert/strict';
import { totalmem } from 'node:os';
import { readFile } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { explainFromJournal } from '../../../actors/inspect/explain/explain-from-journal.ts';
import { ENDS_BADLY, RUNS } from '../agent/support/test-pod.ts';
import { evictingNode } from './support/evicting-node.ts';
import type { PodWish } from './support/evicting-node.ts';
import { smallDisk } from './support/small-disk.ts';
import type { SmallDisk } from './support/small-disk.ts';

const MIB = 2 ** 20;
/** Of the disk, and how much and how many inodes must stay free. */
const DISK = { mebibytes: 1200, inodes: 40_000 };
const KEPT = { mebibytes: 400, inodes: 10_000 };
/** What all pods may use, MiB, and how much of it must stay free. */
const FOR_PODS = 400;
const KEPT_MEMORY = 150;
/** Processes that the one who makes too many makes, and how many more than now are too many. */
const PROCESSES = { made: 1800, tooMany: 1200 };

const DATA = { spec: { volumes: [{ name: 'data', emptyDir: {} }] } };
const MEMORY = { spec: { volumes: [{ name: 'data', emptyDir: { medium: 'Memory' } }] } };
/** Adds 16 MiB again and again to what a file holds, up to so many MiB. */
const grows = (file: string, mib: number): string =>
  `i=0; while [ $i -lt ${Math.ceil(mib / 16)} ]; do dd if=/dev/zero bs=1048576 count=16 2>/dev/null >> ${file}; i=$((i+1)); sleep 0.2; done; ${ENDS_BADLY}`;

/** Each way to use up a node, and what is told of it. */
interface Way {
  of: string;
  script: string;
  wish?: PodWish;
  condition: string;
  resource: string;
}
const WAYS: readonly Way[] = [
  { of: 'memory', script: grows('/data/file', 320), wish: MEMORY, condition: 'MemoryPressure', resource: 'memory' },
  {
    of: 'its volume',
    script: grows('/data/file', 1000),
    wish: DATA,
    condition: 'DiskPressure',
    resource: 'ephemeral-storage',
  },
  {
    of: 'its layer',
    script: grows('/file', 1000),
    condition: 'DiskPressure',
    resource: 'ephemeral-storage',
  },
  {
    of: 'its log',
    script: `head -c 1000000000 /dev/zero | tr '\\0' x | fold -w 4000; ${ENDS_BADLY}`,
    condition: 'DiskPressure',
    resource: 'ephemeral-storage',
  },
  {
    of: 'inodes',
    script: `i=0; while [ $i -lt 35 ]; do mkdir /data/$i; (cd /data/$i; seq 1000 | xargs touch); i=$((i+1)); done; ${ENDS_BADLY}`,
    wish: DATA,
    condition: 'DiskPressure',
    resource: 'inodes',
  },
  {
    of: 'process ids',
    script: `i=0; while [ $i -lt ${PROCESSES.made} ]; do sleep 100000 & i=$((i+1)); done; ${ENDS_BADLY}`,
    condition: 'PIDPressure',
    resource: 'pids',
  },
];

describe('a real node that is used up', () => {
  let disk: SmallDisk;
  const place = evictingNode(
    async () => {
      disk = await smallDisk(DISK);
      return {
        containerd: { parent: disk.path },
        config: {
          ...{ volumeStatsAggPeriod: '2s', containerLogMaxSize: '2Gi', evictionPressureTransitionPeriod: '1s' },
          ...{ evictionMaxPodGracePeriod: 20, nodeStatusUpdateFrequency: '1s' },
          kubeReserved: { memory: String(totalmem() - FOR_PODS * MIB) },
          evictionHard: {
            'memory.available': `${KEPT_MEMORY}Mi`,
            'nodefs.available': `${KEPT.mebibytes}Mi`,
            'nodefs.inodesFree': String(KEPT.inodes),
            'pid.available': String((await freeProcessIds()) - PROCESSES.tooMany),
          },
        },
      };
    },
    () => disk.remove(),
  );

  for (const { of, script, wish, condition, resource } of WAYS)
    it(`evicts who uses up ${of}, tells of it, and leaves the neighbour alone`, async () => {
      const node = place();
      const [filler, neighbour] = [
        `filler-${resource}-${of.replaceAll(' ', '-')}`,
        `neighbour-${of.replaceAll(' ', '-')}`,
      ];
      node.put(neighbour, RUNS, DATA);
      const before = await node.running(neighbour);
      await node.measured(neighbour);
      node.put(filler, script, wish);
      const [status] = await Promise.all([node.evicted(filler), node.condition(condition, 'True')]);
      assert.match(
        status.message ?? '',
        new RegExp(`^The node was low on resource: ${resource}. Threshold quantity: `),
      );
      const disruption = status.conditions?.find(({ type }) => type === 'DisruptionTarget');
      assert.deepEqual([disruption?.status, disruption?.reason], ['True', 'TerminationByKubelet']);
      await node.condition(condition, 'False');
      assert.deepEqual([node.life(neighbour)], before, JSON.stringify(node.status(neighbour)));
      const why = await explainFromJournal({
        ...{ pod: `default/${filler}`, journals: [node.node.journalDir], now: Date.now() },
      });
      assert.match(JSON.stringify(why), /evict/i);
      await Promise.all([filler, neighbour].map((name) => node.remove(name)));
    });
});

/** How many processes the machine could have besides those that it has. The limit on ids is the process id namespace's own, that on threads is not. */
async function freeProcessIds(): Promise<number> {
  const files = ['sys/kernel/pid_max', 'sys/kernel/threads-max', 'loadavg'];
  const [ids, threads, now] = await Promise.all(files.map((file) => readFile(`/proc/${file}`, 'utf8')));
  return Math.min(Number(ids), Number(threads)) - Number(/\/(\d+)/.exec(now ?? '')?.[1]);
}
