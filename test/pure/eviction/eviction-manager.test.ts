import assert from 'node:assert/strict';
import { it } from 'node:test';
import { pino } from 'pino';
import { evictionManager } from '../../../actors/resources/eviction/eviction-manager.ts';
import type { EvictionGround, NodeUsageSource } from '../../../actors/resources/eviction/eviction-ground.ts';
import type { NodeStats } from '../../../actors/resources/stats/summary.ts';
import { createMetrics } from '../../../actors/record/metrics/metrics-registry.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { PodMessage } from '../../../machines/protocol/messages.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';
import { makePod, use } from './eviction-bench.ts';

const GI = 2 ** 30;

/** The manager on a node of fakes whose time is the test's. */
function fakeNode(over: { evictionHard?: Record<string, string>; pods?: Pod[] } = {}) {
  const looks: { at: number; look: () => void }[] = [];
  const seen = {
    now: 1_700_000_000_000,
    available: 8 * GI,
    failure: null as Error | null,
    sourcesReady: true,
    states: new Map((over.pods ?? []).map((pod) => [pod.metadata?.uid ?? '', 'syncing.running'])),
    wholeLooks: 0,
    told: [] as { uid: string; message: PodMessage }[],
    events: [] as RecordedEvent[],
    lines: [] as string[],
    posts: 0,
  };
  const nodeAlone = (): Promise<NodeStats> => {
    if (seen.failure !== null) return Promise.reject(seen.failure);
    const memory = { time: seen.now * 1e6, availableBytes: seen.available, workingSetBytes: 16 * GI - seen.available };
    return Promise.resolve({ nodeName: 'n', startTime: 0, memory });
  };
  const usage: NodeUsageSource = {
    nodeAlone,
    disks: () =>
      seen.failure === null ? Promise.resolve({ imageFs: false, splitFs: false }) : Promise.reject(seen.failure),
    summary: async () => {
      seen.wholeLooks++;
      const pods = (over.pods ?? []).map((pod, i) => ({
        podRef: { uid: pod.metadata?.uid ?? '', name: pod.metadata?.name ?? '', namespace: 'default' },
        startTime: 0,
        ...(use({ memory: `${i + 1}Gi`, volume: `${i + 1}Gi` }) as object),
      }));
      return { node: await nodeAlone(), pods: pods as never };
    },
  };
  const ground: EvictionGround = {
    config: {
      enforceNodeAllocatable: [],
      evictionHard: over.evictionHard ?? { 'memory.available': '1Gi' },
      evictionSoft: {},
      evictionSoftGracePeriod: {},
      evictionMinimumReclaim: {},
      evictionPressureTransitionPeriod: 60_000,
      evictionMaxPodGracePeriod: 0,
      localStorageCapacityIsolation: true,
    },
    settings: { nodeName: 'n' },
    clock: {
      now: () => seen.now,
      steady: () => seen.now,
      looking: () => seen.now,
      lookAfter: (ms, look) => {
        const entry = { at: seen.now + ms, look };
        looks.push(entry);
        return { cancel: () => void looks.splice(0, looks.length, ...looks.filter((each) => each !== entry)) };
      },
    },
    log: pino({ level: 'info' }, { write: (line) => void seen.lines.push((JSON.parse(line) as { msg: string }).msg) }),
    metrics: createMetrics({ processMetrics: false }),
    events: { record: (event) => void seen.events.push(event) },
    journal: null,
    pods: () => over.pods ?? [],
    stateOf: (uid) => seen.states.get(uid) ?? null,
    sourcesReady: () => seen.sourcesReady,
    usage,
    reclaim: () => Promise.reject(new Error('nobody')),
    tell: (uid, message) => void seen.told.push({ uid, message }),
    changed: () => void seen.posts++,
  };
  /** Lets time pass; what comes due is done, and all that follows from it. */
  const pass = async (ms: number): Promise<void> => {
    const until = seen.now + ms;
    for (;;) {
      const next = looks.sort((a, b) => a.at - b.at)[0];
      if (next === undefined || next.at > until) break;
      looks.shift();
      seen.now = Math.max(seen.now, next.at);
      next.look();
      for (let i = 0; i < 50; i++) await Promise.resolve();
    }
    seen.now = until;
  };
  return { manager: evictionManager(ground), seen, looks, pass };
}

it('ends one pod, looks each second whether it has, and then at once at what that brought', async () => {
  const pods = [makePod('small'), makePod('large')];
  const { manager, seen, pass } = fakeNode({ pods });
  manager.start?.();
  await pass(5_000);
  assert.equal(seen.told.length, 0);
  assert.equal(seen.wholeLooks, 0, 'a node that is well has no pods measured');
  seen.available = GI / 2;
  await pass(10_000);
  assert.deepEqual(
    seen.told.map(({ uid, message }) => [
      uid,
      message.type === 'pod.terminate' ? message.order.gracePeriodSeconds : '',
    ]),
    [['uid-large', 1]],
  );
  assert.equal(manager.pressure?.().memory, true);
  assert.equal(seen.posts, 1);
  assert.equal(manager.refuses?.(makePod('late'))?.message, 'The node had condition: [MemoryPressure]. ');
  seen.states.set('uid-large', 'terminating.stoppingContainers');
  await pass(3_000);
  assert.equal(seen.told.length, 1, 'its end is waited for');
  seen.states.set('uid-large', 'terminated.kept');
  await pass(1_000);
  assert.equal(seen.told.length, 2, 'it was not enough');
  assert.equal(seen.told[1]?.uid, 'uid-small');
  assert.deepEqual(
    seen.events.map(({ object, reason }) => `${object.kind} ${object.name} ${reason}`),
    ['Node n EvictionThresholdMet', 'Pod large Evicted', 'Node n EvictionThresholdMet', 'Pod small Evicted'],
  );
  manager.stop?.();
});

it('measures pods each time only when one of them has a limit on local storage', async () => {
  const limited = makePod('limited', { volumes: [{ name: 'local', emptyDir: { sizeLimit: '1Mi' } }] });
  const { manager, seen, pass } = fakeNode({ pods: [limited], evictionHard: {} });
  manager.start?.();
  await pass(1_000);
  assert.equal(seen.wholeLooks, 1);
  assert.deepEqual(
    seen.events.map(({ message }) => message),
    ['Usage of EmptyDir volume "local" exceeds the limit "1Mi". '],
  );
  manager.stop?.();
});

it('says once that it cannot look, and once that it can again', async () => {
  const { manager, seen, pass } = fakeNode();
  seen.failure = new Error('the runtime is away');
  manager.start?.();
  await pass(60_000);
  seen.failure = null;
  await pass(60_000);
  assert.deepEqual(seen.lines, ['Eviction manager: failed to synchronize', 'Eviction manager: synchronizes again']);
  manager.stop?.();
});

it('looks for the first time when all sources have spoken, or after ten seconds', async () => {
  const { manager, seen, pass } = fakeNode({ pods: [makePod('p')] });
  seen.sourcesReady = false;
  seen.available = 0;
  manager.start?.();
  await pass(9_000);
  assert.equal(manager.pressure?.().memory, false);
  await pass(1_500);
  assert.equal(manager.pressure?.().memory, true);
  manager.stop?.();
});

it('does nothing more once it is stopped, whatever is under way', async () => {
  const { manager, seen, looks, pass } = fakeNode({ pods: [makePod('p')] });
  seen.available = 0;
  manager.start?.();
  looks.shift()?.look();
  manager.stop?.();
  await pass(60_000);
  assert.equal(seen.told.length, 0);
  assert.deepEqual(looks, []);
});
