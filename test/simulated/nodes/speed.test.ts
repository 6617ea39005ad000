import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { fleetClock } from '../../../actors/node/fleet/fleet-clock.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { StandInApi } from '../../tools/stand-in-api.ts';
import type { Stored } from '../../tools/stand-in-api.ts';
import { standInFleet } from '../../tools/stand-in-fleet.ts';
import type { StandInFleet } from '../../tools/stand-in-fleet.ts';
import { waitFor } from '../../tools/wait-for.ts';

const SPEED = 20;
/** What takes a minute or more of the nodes' time is over within this, ms: in real time it would not be. */
const SOON_MS = 45_000;

const PROFILE = {
  groups: [{ name: 'n', count: 3 }],
  runtime: {
    images: [{ image: 'slow:1', pull: { takes: '60s' } }, { image: '*' }],
    containers: [
      { match: { pod: 'crashing' }, attempts: [{ exit: { after: '5s', code: 3 } }], logs: [{ text: 'begun' }] },
      { match: { pod: 'job' }, attempts: [{ exit: { after: '100s' } }] },
      { match: { pod: 'stubborn' }, onStop: 'ignore' as const },
    ],
  },
  probes: [{ match: { pod: 'probed' }, answers: [{ status: 503 }, { from: '50s' }] }],
  failures: [
    { does: 'die' as const, nodes: 'n-1', at: '70s', for: '60s' },
    // For some looks of the eviction manager, also of one that a busy machine holds up.
    { does: 'fill-memory' as const, nodes: 'n-2', at: '30s', for: '90s' },
  ],
};

const api = new StandInApi();
/** Times at which objects came, ms of this machine. */
const told: { resource: string; name: string; at: number; object: Stored }[] = [];
let made: StandInFleet;
let beganAt = 0;

before(async () => {
  api.onChange = (resource, name, object) => {
    if (object !== null) told.push({ resource, name, at: Date.now(), object });
  };
  const settings = { evictionHard: { 'memory.available': '100Mi' } };
  made = standInFleet({ api, count: 3, profile: PROFILE, clock: fleetClock(SPEED), settings });
  await made.fleet.start();
  beganAt = Date.now();
});

after(async () => {
  await made.fleet.stop(false);
  made.remove();
});

function create(name: string, container: object = {}, spec: object = {}): void {
  api.put('pods', {
    metadata: { name, namespace: 'd', creationTimestamp: new Date().toISOString() },
    spec: { nodeName: 'n-0', containers: [{ name: 'c', image: 'app:1', ...container }], ...spec },
  });
}

const podNow = (name: string): Pod | undefined => api.get('pods', name, 'd') as Pod | undefined;

/** Waits for something that the nodes' clock brings, and gives how long that took, ms. */
async function soon(what: string, holds: (pod: Pod | undefined) => boolean | undefined, name = ''): Promise<number> {
  const began = performance.now();
  await waitFor(what, () => (holds(podNow(name)) === true ? true : undefined), undefined, SOON_MS);
  return performance.now() - began;
}

const first = (pod: Pod | undefined) => pod?.status?.containerStatuses?.[0];
const isReady = (pod: Pod | undefined) => pod?.status?.conditions?.find(({ type }) => type === 'Ready');

describe(`nodes at ${SPEED}x`, { concurrency: true }, () => {
  test('a container crashes again and again, each time after the back-off of the nodes', async () => {
    create('crashing');
    // 3 runs of 5 s; after the first one it starts at once, then after 10 s and 20 s.
    const took = await soon('three restarts', (pod) => (first(pod)?.restartCount ?? 0) >= 3, 'crashing');
    assert.ok(took >= 45_000 / SPEED - 100 && took < 25_000, `${took} ms`);
    await soon('the next wait', (pod) => first(pod)?.state?.waiting?.reason === 'CrashLoopBackOff', 'crashing');
    assert.match(first(podNow('crashing'))?.state?.waiting?.message ?? '', /^back-off 40s restarting/);
    const { startedAt = '', finishedAt = '' } = first(podNow('crashing'))?.lastState?.terminated ?? {};
    for (const text of [startedAt, finishedAt]) within(text, 'of the last run');
    const of = told.filter(({ resource, object }) => resource === 'events' && aboutOf(object) === 'crashing');
    for (const { object, at } of of) {
      const { firstTimestamp, lastTimestamp } = object as unknown as { firstTimestamp: string; lastTimestamp: string };
      within(firstTimestamp, 'of an event', at);
      within(lastTimestamp, 'of an event', at);
    }
    assert.ok(of.length >= 3);
  });

  test('an image takes its minute, and the event says so', async () => {
    create('pulling', { image: 'slow:1' });
    const took = await soon('it to run', (pod) => pod?.status?.phase === 'Running', 'pulling');
    assert.ok(took >= 60_000 / SPEED - 100, `${took} ms`);
    const pulled = await waitFor('the event', () =>
      messages().find((message) => message.startsWith('Successfully pulled image "slow:1"')),
    );
    // A timer of the machine may fire a millisecond early, which is more in a time that runs faster.
    assert.match(pulled, / in (1m|59\.9)[\d.]*s \((1m|59\.9)[\d.]*s including waiting\)/);
  });

  test('probes have their periods, and a pod is ready since then by the clock of the cluster', async () => {
    const readinessProbe = { httpGet: { path: '/', port: 80 }, periodSeconds: 10, initialDelaySeconds: 20 };
    const madeAt = performance.now();
    create('probed', { readinessProbe });
    await soon('it to run', (pod) => pod?.status?.phase === 'Running', 'probed');
    assert.equal(isReady(podNow('probed'))?.status, 'False');
    await soon('it to be ready', (pod) => isReady(pod)?.status === 'True', 'probed');
    // Its answers are good 50 s after its start.
    const took = performance.now() - madeAt;
    assert.ok(took >= 50_000 / SPEED - 100, `${took} ms`);
    within(isReady(podNow('probed'))?.lastTransitionTime ?? '', 'of Ready');
    within(podNow('probed')?.status?.startTime ?? '', 'of the start');
  });

  test('a container lives as long as the profile says, and activeDeadlineSeconds are those of the nodes', async () => {
    create('job', {}, { restartPolicy: 'Never' });
    create('late', {}, { activeDeadlineSeconds: 120 });
    const [job, late] = await Promise.all([
      soon('the job to end', (pod) => pod?.status?.phase === 'Succeeded', 'job'),
      soon('the deadline', (pod) => pod?.status?.reason === 'DeadlineExceeded', 'late'),
    ]);
    assert.ok(job >= 100_000 / SPEED - 100, `${job} ms`);
    assert.ok(late >= 110_000 / SPEED, `${late} ms`);
  });

  test('who ignores its signal is killed after the grace period of the nodes', async () => {
    create('stubborn', {}, { terminationGracePeriodSeconds: 60 });
    await soon('it to run', (pod) => pod?.status?.phase === 'Running', 'stubborn');
    api.end('stubborn', 'd');
    const took = await soon('it to be gone', (pod) => pod === undefined, 'stubborn');
    assert.ok(took >= 60_000 / SPEED - 100, `${took} ms`);
    const last = told.findLast(({ resource, name }) => resource === 'pods' && name === 'stubborn')?.object as Pod;
    assert.equal(first(last)?.state?.terminated?.exitCode, 137);
  });

  test('pressure holds for the transition period of the nodes', async () => {
    const pressed = (status: string) => () => {
      const node = api.get('nodes', 'n-2');
      return node && conditionsOf(node).some((its) => its.type === 'MemoryPressure' && its.status === status);
    };
    await soon('memory to be short', pressed('True'));
    const took = await soon('the pressure to be over', pressed('False'));
    // Kubelet's default: 5 min since it was short last.
    assert.ok(took >= 300_000 / SPEED - 500, `${took} ms`);
  });

  test('a failure strikes when its time of the nodes has come; leases and what the node tells of itself are real', async () => {
    const node = made.fleet.named('n-1');
    await soon('n-1 to die', () => node?.parts === null);
    const diedAfter = Date.now() - beganAt;
    assert.ok(diedAfter >= 70_000 / SPEED - 100 && diedAfter < 60_000, `${diedAfter} ms`);
    await soon('n-1 to come back', () => node?.parts !== null);
    // By the start, too: its death may be seen late.
    const backAfter = Date.now() - beganAt;
    assert.ok(backAfter >= 130_000 / SPEED - 100, `${backAfter} ms`);
    await waitFor(
      'two renewals of a lease',
      () => (leasesOf('n-0').length >= 3 ? true : undefined),
      undefined,
      SOON_MS,
    );
    const leases = leasesOf('n-0');
    for (const { at, object } of leases)
      within(String((object.spec as { renewTime: string }).renewTime), 'of a lease', at);
    // Each 10 s: by the nodes' clock there would be 20 times as many.
    assert.ok(leases.length <= (Date.now() - beganAt) / 10_000 + 3, `${leases.length} leases`);
    for (const { at, object } of told.filter(({ resource, name }) => resource === 'nodes' && name === 'n-0'))
      for (const { lastHeartbeatTime, lastTransitionTime } of conditionsOf(object)) {
        within(lastHeartbeatTime, 'of a condition', at);
        within(lastTransitionTime, 'of a condition', at);
      }
  });
});

/** A moment that somebody was told lies between the start of the test and then. Times of the API are whole seconds. */
function within(text: string, of: string, then = Date.now()): void {
  const at = Date.parse(text);
  assert.ok(at >= beganAt - 5_000 && at <= then + 50, `${text} ${of}, told at ${new Date(then).toISOString()}`);
}

function messages(): string[] {
  return told.flatMap(({ object }) => ('message' in object ? [String(object.message)] : []));
}

function leasesOf(name: string) {
  return told.filter((each) => each.resource === 'leases' && each.name === name);
}

function conditionsOf({
  status,
}: Stored): Record<'type' | 'status' | 'lastHeartbeatTime' | 'lastTransitionTime', string>[] {
  return (status?.['conditions'] ?? []) as ReturnType<typeof conditionsOf>;
}

function aboutOf(object: Stored): string {
  return (object as unknown as { involvedObject?: { name?: string } }).involvedObject?.name ?? '';
}
