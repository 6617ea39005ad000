import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { candidateOf } from '../../../machines/eviction/candidates.ts';
import type { PodFigures } from '../../../machines/eviction/pod-use.ts';
import { evictionWords } from '../../../machines/eviction/eviction-words.ts';
import { ranked } from '../../../machines/eviction/ranking.ts';
import type { Signal } from '../../../machines/eviction/signals.ts';
import type { Container, Pod } from '../../../machines/protocol/api-types.ts';
import { bytes, makePod, use } from './eviction-bench.ts';

const ONE_DISK = { imageFs: false, splitFs: false };
type Entry = [pod: Pod, figures: PodFigures | undefined];

function order(signal: Signal, entries: Entry[]): string[] {
  return ranked(
    signal,
    entries.map(([pod, figures]) => candidateOf(pod, figures, signal, ONE_DISK)),
  ).map(({ name }) => name);
}

const stored = (amount: string) => ({ requests: { 'ephemeral-storage': amount } });
const volumes = [{ name: 'local', emptyDir: {} }];

describe('the order of victims', () => {
  it('disk: by usage less requests (kubelet TestOrderedbyDisk, after those below their requests)', () => {
    const entries: Entry[] = [
      [makePod('best-effort-high', { volumes }), use({ root: '50Mi', logs: '100Mi', volume: '150Mi' })],
      [makePod('best-effort-low', { volumes }), use({ root: '25Mi', logs: '25Mi', volume: '50Mi' })],
      [
        makePod('burstable-high', { volumes, ...stored('100Mi') }),
        use({ root: '150Mi', logs: '150Mi', volume: '50Mi' }),
      ],
      [makePod('burstable-low', { volumes, ...stored('100Mi') }), use({ root: '25Mi', logs: '35Mi', volume: '50Mi' })],
      [
        makePod('guaranteed-high', { volumes, ...stored('400Mi') }),
        use({ root: '225Mi', logs: '100Mi', volume: '50Mi' }),
      ],
      [makePod('guaranteed-low', { volumes, ...stored('400Mi') }), use({ root: '25Mi', logs: '45Mi', volume: '50Mi' })],
    ];
    const expected = [
      'best-effort-high',
      'burstable-high',
      'best-effort-low',
      'burstable-low',
      'guaranteed-high',
      'guaranteed-low',
    ];
    assert.deepEqual(order('nodefs.available', entries), expected);
    assert.deepEqual(order('nodefs.available', entries.toReversed()), expected);
  });

  it('disk: requests, then priority, then usage (TestOrderedByPriorityDisk)', () => {
    const low = { priority: -1, volumes };
    const high = { priority: 1, volumes };
    const entries: Entry[] = [
      [makePod('1', low), use({ root: '200Mi', logs: '100Mi', volume: '200Mi' })],
      [makePod('2', low), use({ root: '10Mi', logs: '10Mi', volume: '30Mi' })],
      [makePod('3', { ...high, ...stored('100Mi') }), use({ root: '200Mi', logs: '150Mi', volume: '250Mi' })],
      [makePod('4', { ...high, ...stored('100Mi') }), use({ root: '90Mi', logs: '50Mi', volume: '10Mi' })],
      [makePod('5', { ...low, ...stored('1Gi') }), use({ root: '500Mi', logs: '200Mi', volume: '100Mi' })],
      [makePod('6', { ...low, ...stored('1Gi') }), use({ root: '50Mi', logs: '100Mi', volume: '50Mi' })],
      [makePod('7', { ...high, ...stored('1Gi') }), use({ root: '250Mi', logs: '500Mi', volume: '50Mi' })],
      [makePod('8', { ...high, ...stored('1Gi') }), use({ root: '100Mi', logs: '60Mi', volume: '40Mi' })],
    ];
    assert.deepEqual(order('nodefs.available', entries.toReversed()), ['1', '2', '3', '4', '5', '6', '7', '8']);
  });

  it('inodes (TestOrderedByPriorityInodes)', () => {
    const inodes = (root: string, logs: string, volume: string) => use({ inodes: true, root, logs, volume });
    const entries: Entry[] = [
      [makePod('1', { priority: -1, volumes }), inodes('50000', '100000', '250000')],
      [makePod('2', { priority: -1, volumes }), inodes('60000', '30000', '10000')],
      [makePod('3', { priority: 1, volumes }), inodes('150000', '150000', '50000')],
      [makePod('4', { priority: 1, volumes }), inodes('10000', '40000', '100000')],
    ];
    assert.deepEqual(order('nodefs.inodesFree', entries.toReversed()), ['1', '2', '3', '4']);
  });

  it('memory: requests, then priority, then usage (TestOrderedByPriorityMemory)', () => {
    const of = (memory: string) => ({ requests: { memory } });
    const entries: Entry[] = [
      [makePod('1', { priority: -1 }), use({ memory: '500Mi' })],
      [makePod('2', { priority: -1 }), use({ memory: '50Mi' })],
      [makePod('3', { priority: 1, ...of('100Mi') }), use({ memory: '600Mi' })],
      [makePod('4', { priority: 1, ...of('100Mi') }), use({ memory: '150Mi' })],
      [makePod('5', { priority: -1, ...of('1Gi') }), use({ memory: '800Mi' })],
      [makePod('6', { priority: -1, ...of('1Gi') }), use({ memory: '200Mi' })],
      [makePod('7', { priority: 1, ...of('1Gi') }), use({ memory: '800Mi' })],
      [makePod('8', { priority: 1, ...of('1Gi') }), use({ memory: '200Mi' })],
    ];
    assert.deepEqual(order('memory.available', entries.toReversed()), ['1', '2', '3', '4', '5', '6', '7', '8']);
  });

  it('a pod that nothing is known of goes first (TestStatsNotFoundForPod)', () => {
    const entries: Entry[] = [
      [makePod('huge', { priority: -10 }), use({ memory: '100Gi' })],
      [makePod('unknown', { priority: 10 }), undefined],
    ];
    assert.deepEqual(order('memory.available', entries), ['unknown', 'huge']);
    assert.deepEqual(order('nodefs.available', entries), ['unknown', 'huge']);
  });

  it('memory that is requested for the pod as a whole counts instead of the containers’ (and overhead beside it)', () => {
    const pod = makePod('p', { requests: { memory: '1Gi', 'ephemeral-storage': '5Gi' } });
    if (pod.spec) {
      pod.spec.resources = { requests: { memory: '250Mi' } };
      pod.spec.overhead = { memory: '10Mi', 'ephemeral-storage': '1Gi' };
    }
    const figures = use({ memory: '600Mi', root: '1Mi' });
    assert.equal(candidateOf(pod, figures, 'memory.available', ONE_DISK).figures?.request, bytes('260Mi'));
    assert.equal(candidateOf(pod, figures, 'nodefs.available', ONE_DISK).figures?.request, 0);
  });

  it('volumes in memory, secrets and claims are nobody’s use of the disk', () => {
    const elsewhere = [{ name: 'local', emptyDir: { medium: 'Memory' } }];
    const of = (volume: NonNullable<Pod['spec']>['volumes']) =>
      candidateOf(makePod('p', { volumes: volume }), use({ volume: '1Gi' }), 'nodefs.available', ONE_DISK).figures
        ?.usage;
    assert.equal(of(elsewhere), 0);
    assert.equal(of([{ name: 'local', persistentVolumeClaim: { claimName: 'x' } }]), 0);
    assert.equal(of([{ name: 'local', hostPath: { path: '/x' } }]), bytes('1Gi'));
    assert.equal(of([{ name: 'local', configMap: { name: 'x' } }]), bytes('1Gi'));
  });
});

describe('what is told of an eviction (kubelet TestEvictionMessage)', () => {
  const asks = (name: string, memory?: string, sidecar = false): Container => ({
    name,
    resources: { requests: memory === undefined ? {} : { memory } },
    ...(sidecar && { restartPolicy: 'Always' }),
  });
  const told = (init: Container[], regular: Container[], used: Record<string, string>, whole?: string) => {
    const pod: Pod = { metadata: { name: 'p', uid: 'u' }, spec: { initContainers: init, containers: regular } };
    if (whole !== undefined && pod.spec) pod.spec.resources = { requests: { memory: whole } };
    const containers = Object.entries(used).map(([name, usage]) => ({
      name,
      memory: { workingSetBytes: bytes(usage) },
    }));
    const total = Object.values(used).reduce((sum, usage) => sum + bytes(usage), 0);
    const figures = { containers, memory: { workingSetBytes: total } };
    return evictionWords('memory', candidateOf(pod, figures, 'memory.available', ONE_DISK), [], {});
  };
  const low = 'The node was low on resource: memory. ';
  const larger = 'has larger consumption of memory. ';

  it('nobody takes more than was asked for', () => {
    const { message, annotations } = told([asks('i', '100Mi')], [asks('r', '200Mi')], { r: '100Mi' });
    assert.equal(message, low);
    assert.deepEqual(annotations, {
      offending_containers: '',
      offending_containers_usage: '',
      starved_resource: 'memory',
    });
  });

  it('init containers, sidecars and regular ones in the order of the stats; an ephemeral one is never named', () => {
    const { message, annotations } = told(
      [asks('init', '100Mi'), asks('side', undefined, true)],
      [asks('r1', '300Mi'), asks('r2', '200Mi')],
      { init: '150Mi', side: '250Mi', debug: '9Gi', r1: '50Mi', r2: '250Mi' },
    );
    assert.equal(
      message,
      `${low}Container init was using 150Mi, request is 100Mi, ${larger}` +
        `Container side was using 250Mi, request is 0, ${larger}Container r2 was using 250Mi, request is 200Mi, ${larger}`,
    );
    assert.equal(annotations['offending_containers'], 'init,side,r2');
    assert.equal(annotations['offending_containers_usage'], '150Mi,250Mi,250Mi');
  });

  it('a pod whose memory is requested as a whole', () => {
    const { message, annotations } = told([], [asks('r1'), asks('r2')], { r1: '250Mi', r2: '350Mi' }, '250Mi');
    assert.equal(
      message,
      `${low}Pod p was using 600Mi, request is 250Mi, ${larger}` +
        `Container r1 was using 250Mi, request is 0, ${larger}Container r2 was using 350Mi, request is 0, ${larger}`,
    );
    assert.equal(annotations['offending_pod'], 'p');
    assert.equal(annotations['offending_pod_usage'], '600Mi');
  });
});
