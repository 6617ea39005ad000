import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Container, Probe } from '../../../machines/protocol/api-types.ts';
import { pod, PodWorld } from './pod-world.ts';

const probe = (name: string): Probe => ({ exec: { command: [name] }, periodSeconds: 1, failureThreshold: 1 });
const container = (name: string, over: Partial<Container> = {}): Container => ({
  name,
  image: 'img:1',
  imagePullPolicy: 'IfNotPresent',
  ...over,
});
const sidecar = (name: string, over: Partial<Container> = {}) => container(name, { restartPolicy: 'Always', ...over });
const sleeps = (seconds: number) => ({ preStop: { sleep: { seconds } } });

/** Commands whose exit code is 1 from now on. */
function world(spec: Parameters<typeof pod>[0], failing = new Set<string>(), source: 'api' | 'file' = 'api'): PodWorld {
  const made = new PodWorld(pod(spec), null, undefined, true, source);
  made.answers['cri.ExecSync'] = (effect) =>
    effect.type === 'cri.ExecSync'
      ? { result: { exitCode: failing.has(effect.params.cmd[0] ?? '') ? 1 : 0, output: '' } }
      : undefined;
  return made;
}

function end(of: PodWorld, reason: string, gracePeriodSeconds = 10): void {
  of.send({ type: 'pod.terminate', at: of.at, order: { reason, message: '', gracePeriodSeconds } });
}

/** What is probed from now on, until `act` is over. */
function probedDuring(of: PodWorld, act: () => void): string[] {
  const from = of.effects.length;
  act();
  const keys = of.effects.slice(from).map(({ key }) => key);
  return [
    ...new Set(keys.filter((key) => key.startsWith('probe/')).map((key) => key.split('/').slice(1, 3).join('/'))),
  ].sort();
}

const all = (name: string) => ({ livenessProbe: probe(`${name}-live`), readinessProbe: probe(`${name}-ready`) });

test('while a pod that was deleted ends, sidecars are probed as before, regular containers for readiness only', () => {
  const w = world({
    initContainers: [sidecar('s', all('s'))],
    containers: [container('c', { ...all('c'), lifecycle: sleeps(6) })],
  });
  w.run(3_000);
  const probed = probedDuring(w, () => {
    end(w, 'Deleted');
    w.run(5_000);
  });
  assert.deepEqual(probed, ['c/readiness', 's/liveness', 's/readiness']);
  assert.deepEqual(w.running().sort(), ['c', 's']);
  w.run(20_000);
  assert.deepEqual(w.running(), []);
});

const SLOW = {
  restartPolicy: 'Never' as const,
  initContainers: [sidecar('s', { ...all('s'), lifecycle: sleeps(6) })],
  containers: [container('c', { ...all('c'), lifecycle: sleeps(6) })],
};

test('a pod that failed by eviction or its deadline, and one that no source names any more, is not probed', () => {
  for (const reason of ['Evicted', 'Removed']) {
    const w = world(SLOW);
    w.run(3_000);
    end(w, reason);
    assert.deepEqual(
      probedDuring(w, () => w.run(5_000)),
      [],
      reason,
    );
    assert.deepEqual(w.running().sort(), ['c', 's'], reason);
  }
  const late = world({ ...SLOW, activeDeadlineSeconds: 3 });
  assert.notDeepEqual(
    probedDuring(late, () => late.run(3_000)),
    [],
  );
  assert.deepEqual(
    probedDuring(late, () => late.run(5_000)),
    [],
  );
  assert.deepEqual(late.running().sort(), ['c', 's']);
});

test('sidecars of a deleted pod are probed until no source names it any more', () => {
  const w = world(SLOW);
  w.run(3_000);
  end(w, 'Deleted');
  assert.notDeepEqual(
    probedDuring(w, () => w.run(2_000)),
    [],
  );
  end(w, 'Removed');
  assert.deepEqual(
    probedDuring(w, () => w.run(2_000)),
    [],
  );
  assert.deepEqual(w.running().sort(), ['c', 's']);
});

test('when the work of a pod is done its sidecars are probed on; when an init container failed, nothing is', () => {
  const done = world(SLOW);
  done.run(3_000);
  done.exit('c', 0);
  assert.deepEqual(
    probedDuring(done, () => done.run(5_000)),
    ['s/liveness', 's/readiness'],
  );
  assert.deepEqual(done.running(), ['s']);
  const failed = world({ ...SLOW, initContainers: [...SLOW.initContainers, container('i')] });
  failed.run(3_000);
  failed.exit('i', 1);
  assert.deepEqual(
    probedDuring(failed, () => failed.run(5_000)),
    [],
  );
  assert.deepEqual(failed.running(), ['s']);
});

test('a sidecar that turns unhealthy while its pod ends is told of, and neither stopped nor restarted', () => {
  const failing = new Set<string>();
  const w = world(
    { initContainers: [sidecar('s', all('s'))], containers: [container('c', { lifecycle: sleeps(6) })] },
    failing,
  );
  w.run(3_000);
  end(w, 'Deleted');
  failing.add('s-live');
  w.events = [];
  w.run(5_000);
  assert.deepEqual(
    w.events.filter((text) => text.includes('Liveness')),
    ['Unhealthy: Liveness probe failed: '],
    'once: a probe that failed rests',
  );
  assert.equal(w.count('cri.StopContainer'), 0);
  assert.deepEqual(w.running().sort(), ['c', 's']);
});

test('a sidecar that starts up while its pod ends is told as started, and is then probed for the rest', () => {
  const failing = new Set(['s-start']);
  const w = world(
    {
      initContainers: [sidecar('s', { ...all('s'), startupProbe: { ...probe('s-start'), failureThreshold: 100 } })],
      containers: [container('c')],
    },
    failing,
  );
  w.run(3_000);
  assert.deepEqual(w.running(), ['s']);
  w.answers['cri.StopContainer'] = () => 'hang';
  end(w, 'Deleted');
  assert.equal(w.status?.initContainerStatuses?.[0]?.started, false);
  failing.clear();
  const probed = probedDuring(w, () => w.run(4_000));
  assert.deepEqual(probed, ['s/liveness', 's/readiness', 's/startup']);
  assert.equal(w.status?.initContainerStatuses?.[0]?.started, true);
  assert.equal(w.status?.initContainerStatuses?.[0]?.ready, true);
});

test('a regular container that had not started when its pod was deleted is not told as started, nor ready', () => {
  const w = world(
    {
      containers: [
        container('c', {
          startupProbe: { ...probe('c-start'), failureThreshold: 100 },
          readinessProbe: probe('c-ready'),
          lifecycle: sleeps(6),
        }),
      ],
    },
    new Set(['c-start']),
  );
  w.run(3_000);
  const probed = probedDuring(w, () => {
    end(w, 'Deleted');
    w.run(4_000);
  });
  assert.deepEqual(probed, []);
  assert.equal(w.status?.containerStatuses?.[0]?.started, false);
  assert.equal(w.status?.containerStatuses?.[0]?.ready, false);
});

test('while the last regular containers are stopped for good by a probe, sidecars are neither restarted nor stopped', () => {
  const failing = new Set<string>();
  const w = world(
    {
      restartPolicy: 'Never',
      initContainers: [sidecar('s'), sidecar('t', { livenessProbe: probe('t-live') })],
      containers: [container('c', { livenessProbe: probe('c-live'), lifecycle: sleeps(20) })],
    },
    failing,
  );
  w.run(3_000);
  failing.add('c-live');
  w.run(2_000);
  assert.equal(w.state, 'syncing.stoppingContainers');
  failing.add('t-live');
  w.exit('s', 1);
  w.run(15_000);
  assert.deepEqual(w.running().sort(), ['c', 't']);
  assert.equal(w.count('cri.StopContainer'), 0);
  w.run(40_000);
  assert.equal(w.containers.filter(({ name }) => name === 's').length, 1);
  assert.match(w.status?.phase ?? '', /Failed/);
});

test('a regular container that will be restarted, or another that runs, keeps sidecars alive', () => {
  for (const [restartPolicy, more] of [
    ['Always', []],
    ['Never', [container('d')]],
  ] as const) {
    const failing = new Set<string>();
    const w = world(
      {
        restartPolicy,
        initContainers: [sidecar('s')],
        containers: [container('c', { livenessProbe: probe('c-live'), lifecycle: sleeps(20) }), ...more],
      },
      failing,
    );
    w.run(3_000);
    failing.add('c-live');
    w.run(2_000);
    w.exit('s', 1);
    w.run(15_000);
    assert.ok(w.running().includes('s'), restartPolicy);
  }
});

test('a sidecar does not wait for an init container that runs beside it when its pod ends', () => {
  const w = world({ initContainers: [sidecar('s'), container('i')], containers: [container('c')] });
  w.run(3_000);
  assert.deepEqual(w.running().sort(), ['i', 's']);
  w.answers['cri.StopContainer'] = () => 'hang';
  end(w, 'Deleted');
  w.run(10);
  assert.equal(w.count('cri.StopContainer'), 2);
});
