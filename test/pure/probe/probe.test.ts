import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Probe } from '../../../machines/protocol/api-types.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import { pod } from '../pod/pod-world.ts';
import { ProbeBench } from './probe-bench.ts';

const messages = (effects: Effect[]) =>
  effects.flatMap((e) => (e.type === 'event.Record' ? [`${e.params.reason}: ${e.params.message}`] : []));

test('results before the first run: readiness fails, liveness holds, startup is open', () => {
  for (const [kind, result] of [
    ['readiness', 'failure'],
    ['liveness', 'success'],
    ['startup', 'unknown'],
  ] as const) {
    const bench = new ProbeBench(kind);
    bench.look();
    assert.equal(bench.state, 'waiting');
    assert.equal(bench.context.result, result);
  }
});

test('initialDelaySeconds counts from the start of the container, periodSeconds from the start of a run', () => {
  const bench = new ProbeBench('readiness', { initialDelaySeconds: 7, periodSeconds: 5 });
  bench.at += 2_000;
  bench.look();
  assert.equal(bench.context.deadline, bench.at + 5_000);
  bench.ring();
  const asked = bench.at;
  bench.at += 800;
  bench.done('cri.ExecSync', { exitCode: 0, output: '' });
  assert.equal(bench.context.deadline, asked + 5_000);
  bench.ring();
  bench.at += 9_000;
  bench.done('cri.ExecSync', { exitCode: 0, output: '' });
  assert.equal(bench.context.deadline, bench.at, 'a run that outlasted its period is followed by the next one');
});

test('failureThreshold and successThreshold count runs in a row', () => {
  const bench = new ProbeBench('readiness', { failureThreshold: 3, successThreshold: 2 });
  bench.look();
  assert.deepEqual(
    [0, 0, 1, 1, 0, 1, 1, 1, 0, 0].map((code) => bench.run(code)),
    ['failure', 'success', 'success', 'success', 'success', 'success', 'success', 'failure', 'failure', 'success'],
  );
});

test('a liveness probe that failed is on hold until there is a new container', () => {
  const bench = new ProbeBench('liveness', { failureThreshold: 2 });
  bench.look();
  assert.deepEqual(
    [0, 1, 1].map((code) => bench.run(code)),
    ['success', 'success', 'failure'],
  );
  assert.equal(bench.state, 'onHold');
  assert.equal(bench.context.deadline, null);
  assert.ok(messages(bench.effects).every((m) => m === 'Unhealthy: Liveness probe failed: out'));
  bench.look();
  assert.equal(bench.state, 'onHold');
  bench.look({ runningId: 'c2', startedAt: bench.at });
  assert.equal(bench.state, 'waiting');
  assert.equal(bench.context.result, 'success');
  assert.equal(bench.context.run, 0);
});

test('what was said in a row of one container counts on with the next, unless that is why it was stopped', () => {
  const next = (kind: 'liveness' | 'readiness', probe: Partial<Probe>, codes: number[], behaviour?: number[]) => {
    const bench = new ProbeBench(kind, probe);
    if (behaviour !== undefined) bench.over.settings = { behaviour };
    bench.look({ adopted: true });
    for (const code of codes) bench.run(code);
    bench.look({ runningId: '', adopted: false });
    bench.at += 30_000;
    bench.look({ runningId: 'c2', startedAt: bench.at });
    return bench;
  };
  assert.equal(next('readiness', { successThreshold: 2 }, [0]).context.result, 'failure');
  assert.equal(next('readiness', { successThreshold: 2 }, [0]).run(0), 'success');
  assert.equal(next('readiness', { successThreshold: 2 }, [0, 1]).run(0), 'failure');
  const failing = next('liveness', { failureThreshold: 3 }, [1, 1]);
  assert.equal(failing.run(1), 'success', 'kubelet would not have asked yet');
  assert.equal(failing.run(1), 'failure');
  const stopped = next('liveness', { failureThreshold: 2 }, [1, 1]);
  stopped.run(1);
  assert.equal(stopped.run(1), 'success');
  assert.equal(stopped.run(1), 'failure');
  assert.equal(next('readiness', { successThreshold: 2 }, [0], [7]).run(0), 'failure', 'as logs of before have it');
});

test('a startup probe ends with its first decision, either way, and holds the others back', () => {
  for (const [code, result] of [
    [0, 'success'],
    [1, 'failure'],
  ] as const) {
    const startup = new ProbeBench('startup', { failureThreshold: 1 });
    startup.look({ adopted: true });
    assert.equal(startup.run(code), result);
    assert.equal(startup.state, 'onHold');
  }
  const liveness = new ProbeBench('liveness');
  liveness.look({ started: false });
  assert.equal(liveness.context.deadline, null, 'not due before startup is over');
  liveness.at += 5_000;
  liveness.look({ started: true });
  assert.equal(liveness.context.deadline, liveness.at);
  liveness.look({ started: false });
  assert.deepEqual(liveness.ring(), [], 'no longer started: no run');
  assert.equal(liveness.context.deadline, null);
});

test('the container ends: readiness is lost at once; a new one starts from the initial result', () => {
  const bench = new ProbeBench('readiness');
  bench.look();
  assert.equal(bench.run(0), 'success');
  bench.look({ runningId: '' });
  assert.equal(bench.state, 'idle');
  assert.equal(bench.context.result, 'failure');
  assert.equal(bench.context.deadline, null);
  bench.look({ runningId: 'c2', startedAt: bench.at });
  assert.equal(bench.context.containerId, 'c2');
  assert.equal(bench.context.result, 'failure');
});

test('a container that was out of sight for a moment is probed again', () => {
  const readiness = new ProbeBench('readiness');
  readiness.look();
  readiness.run(0);
  readiness.look({ runningId: '' });
  readiness.look({ runningId: 'c1' });
  assert.equal(readiness.state, 'waiting');
  assert.equal(readiness.run(0), 'success');
  const startup = new ProbeBench('startup');
  startup.look();
  startup.run(0);
  startup.look({ runningId: '' });
  startup.look({ runningId: 'c1' });
  assert.equal(startup.state, 'onHold');
  assert.equal(startup.context.result, 'success');
});

test('an adopted container keeps alive until a probe says otherwise, and ready if its pod was', () => {
  for (const [kind, status, result] of [
    ['liveness', 'False', 'success'],
    ['readiness', 'True', 'success'],
    ['readiness', 'False', 'failure'],
  ] as const) {
    const bench = new ProbeBench(kind);
    const known = { ...pod({}), status: { conditions: [{ type: 'Ready', status }] } };
    bench.look({ adopted: true, pod: known });
    assert.equal(bench.context.result, result);
  }
  const startup = new ProbeBench('startup');
  startup.look({ adopted: true });
  assert.equal(startup.context.result, 'unknown');
});

test('outcomes for an earlier container, late and double ones, count for nothing', () => {
  const bench = new ProbeBench('readiness');
  bench.look();
  bench.ring();
  const { op } = bench.context;
  bench.look({ runningId: 'c2', startedAt: bench.at });
  assert.deepEqual(bench.done('cri.ExecSync', { exitCode: 0, output: '' }, op), []);
  assert.equal(bench.context.result, 'failure');
  bench.ring();
  const second = bench.context.op;
  bench.done('cri.ExecSync', { exitCode: 0, output: '' });
  const before = JSON.stringify(bench.context);
  bench.done('cri.ExecSync', { exitCode: 1, output: '' }, second);
  bench.failed('cri.ExecSync', 'Unknown', 'x', second);
  assert.equal(JSON.stringify(bench.context), before);
});

const verdicts: [string, Partial<Probe>, (b: ProbeBench) => unknown, 'success' | 'failure', string][] = [
  ['exec 0', {}, (b) => b.done('cri.ExecSync', { exitCode: 0, output: '' }), 'success', ''],
  ['exec 1', {}, (b) => b.done('cri.ExecSync', { exitCode: 1, output: 'why' }), 'failure', 'why'],
  [
    'exec too long',
    { timeoutSeconds: 3 },
    (b) => b.failed('cri.ExecSync', 'DeadlineExceeded'),
    'failure',
    'command timed out: "check it" timed out after 3s',
  ],
  [
    'http 200',
    { exec: undefined, httpGet: { port: 'web' } },
    (b) => b.done('net.HttpGet', { status: 200, body: '' }),
    'success',
    '',
  ],
  [
    'http 399, a redirect to elsewhere,',
    { exec: undefined, httpGet: { port: 'web' } },
    (b) => b.done('net.HttpGet', { status: 399, body: '<a href="http://0.0.0.0/">Found</a>.' }),
    'success',
    'Probe terminated redirects, Response body: <a href="http://0.0.0.0/">Found</a>.',
  ],
  [
    'http 400',
    { exec: undefined, httpGet: { port: 'web' } },
    (b) => b.done('net.HttpGet', { status: 400, body: '' }),
    'failure',
    'HTTP probe failed with statuscode: 400',
  ],
  [
    'http refused',
    { exec: undefined, httpGet: { port: 'web' } },
    (b) => b.failed('net.HttpGet', 'ECONNREFUSED', 'refused'),
    'failure',
    'refused',
  ],
  ['tcp open', { exec: undefined, tcpSocket: { port: 'web' } }, (b) => b.done('net.TcpConnect', {}), 'success', ''],
  [
    'tcp refused',
    { exec: undefined, tcpSocket: { port: 'web' } },
    (b) => b.failed('net.TcpConnect', 'ECONNREFUSED', 'refused'),
    'failure',
    'refused',
  ],
  [
    'grpc serving',
    { exec: undefined, grpc: { port: 1 } },
    (b) => b.done('net.GrpcHealth', { status: 'SERVING' }),
    'success',
    '',
  ],
  [
    'grpc not serving',
    { exec: undefined, grpc: { port: 1 } },
    (b) => b.done('net.GrpcHealth', { status: 'NOT_SERVING' }),
    'failure',
    'service unhealthy (responded with "NOT_SERVING")',
  ],
];
for (const [name, probe, answer, result, text] of verdicts) {
  test(`verdict: ${name} is ${result}`, () => {
    const bench = new ProbeBench('readiness', { failureThreshold: 1, ...probe });
    bench.look({ adopted: result === 'failure' });
    bench.ring();
    bench.effects = [];
    answer(bench);
    assert.equal(bench.context.result, result);
    const told =
      result === 'failure'
        ? `Unhealthy: Readiness probe failed: ${text}`
        : `ProbeWarning: Readiness probe warning: ${text}`;
    assert.deepEqual(messages(bench.effects), text === '' ? [] : [told]);
  });
}

test('an error of the prober is tried three times, then told, and never counted', () => {
  const bench = new ProbeBench('liveness', { failureThreshold: 1 });
  bench.look();
  bench.run(0);
  for (let round = 0; round < 3; round++) {
    bench.ring();
    assert.equal(bench.failed('cri.ExecSync', 'Unavailable').filter((e) => e.type === 'cri.ExecSync').length, 1);
    assert.equal(bench.failed('cri.ExecSync', 'Unavailable').filter((e) => e.type === 'cri.ExecSync').length, 1);
    assert.deepEqual(messages(bench.failed('cri.ExecSync', 'Unavailable')), [
      'Unhealthy: Liveness probe errored and resulted in unknown state: rpc error: code = Unavailable desc = boom',
    ]);
    assert.equal(bench.state, 'waiting');
    assert.equal(bench.context.result, 'success');
    assert.equal(bench.context.outcome, 'success');
  }
});

test('the path of a request is handed on as it is written', () => {
  const asked = (behaviour?: number[]) => {
    const httpGet = { port: 80, path: 'http://elsewhere/ready' };
    const bench = new ProbeBench('readiness', { exec: undefined, httpGet } as Partial<Probe>);
    if (behaviour !== undefined) bench.over.settings = { behaviour };
    bench.look();
    const [get] = bench.ring();
    return get?.type === 'net.HttpGet' ? get.params.path : '';
  };
  assert.equal(asked(), 'http://elsewhere/ready');
  assert.equal(asked([7]), '/http://elsewhere/ready', 'as logs of before have it');
});

test('a body that breaks off, or a request that cannot be made, is an error of the prober, too', () => {
  const bench = new ProbeBench('liveness', {
    exec: undefined,
    httpGet: { port: 80, path: '/' },
    failureThreshold: 1,
  } as Partial<Probe>);
  bench.look();
  bench.ring();
  bench.done('net.HttpGet', { status: 200, body: '' });
  bench.ring();
  const broken = () => bench.done('net.HttpGet', { status: 500, body: 'o', brokenBody: 'unexpected EOF' });
  assert.deepEqual(
    broken().map((e) => e.type),
    ['net.HttpGet'],
  );
  assert.deepEqual(
    broken().map((e) => e.type),
    ['net.HttpGet'],
  );
  assert.deepEqual(messages(broken()), [
    'Unhealthy: Liveness probe errored and resulted in failure state: unexpected EOF',
  ]);
  assert.equal(bench.state, 'waiting');
  assert.equal(bench.context.result, 'success');
  bench.ring();
  bench.failed('net.HttpGet', 'InvalidRequest');
  bench.failed('net.HttpGet', 'InvalidRequest');
  assert.deepEqual(messages(bench.failed('net.HttpGet', 'InvalidRequest')), [
    'Unhealthy: Liveness probe errored and resulted in unknown state: boom',
  ]);
  assert.equal(bench.context.result, 'success');
});

test('errors between failures do not break the row', () => {
  const bench = new ProbeBench('liveness', { failureThreshold: 2 });
  bench.look();
  bench.run(0);
  bench.run(1);
  bench.ring();
  for (let i = 0; i < 3; i++) bench.failed('cri.ExecSync', 'Unknown');
  assert.equal(bench.run(1), 'failure');
});

const unknownPorts: [port: number | string, error: string][] = [
  ['nowhere', 'strconv.Atoi: parsing "nowhere": invalid syntax'],
  ['0x50', 'strconv.Atoi: parsing "0x50": invalid syntax'],
  ['99999999999999999999', 'strconv.Atoi: parsing "99999999999999999999": value out of range'],
  ['70000', 'invalid port number: 70000'],
  [0, 'invalid port number: 0'],
];
for (const [port, error] of unknownPorts) {
  test(`port ${JSON.stringify(port)} does not exist: nothing is asked, and each period it is told why`, () => {
    for (const handler of ['httpGet', 'tcpSocket']) {
      const bench = new ProbeBench('readiness', { exec: undefined, [handler]: { port } });
      bench.look();
      for (let period = 0; period < 2; period++) {
        assert.deepEqual(messages(bench.ring()), [
          `Unhealthy: Readiness probe errored and resulted in unknown state: ${error}`,
        ]);
        assert.equal(bench.state, 'waiting');
        assert.equal(bench.context.deadline, bench.at + 10_000);
        assert.equal(bench.context.run, 0);
      }
      assert.deepEqual([...new Set(bench.effects.map(({ type }) => type))], ['event.Record']);
    }
  });
}

test('a port is found by its name or as a numeral', () => {
  for (const [port, found] of [
    ['web', 8080],
    ['81', 81],
    ['+82', 82],
    [83, 83],
  ] as const) {
    const bench = new ProbeBench('readiness', { exec: undefined, tcpSocket: { port: port as string } });
    bench.look();
    const [effect] = bench.ring();
    assert.equal(effect?.type === 'net.TcpConnect' ? effect.params.port : undefined, found);
  }
});

test('as logs of before have it: a port that does not exist is not told of', () => {
  const bench = new ProbeBench('readiness', { exec: undefined, httpGet: { port: 'nowhere' } });
  bench.over.settings = { behaviour: [7] };
  bench.look();
  const from = bench.at;
  assert.deepEqual(bench.ring(), []);
  assert.equal(bench.state, 'waiting');
  assert.equal(bench.context.deadline, from + 10_000);
});

test('liveness and startup that the end of the pod stops are quiet; what had not started has not by that; readiness goes on', () => {
  for (const [kind, result] of [
    ['liveness', 'success'],
    ['startup', 'unknown'],
  ] as const) {
    const bench = new ProbeBench(kind);
    bench.look();
    bench.look({ stopped: 'livenessAndStartup' });
    assert.equal(bench.state, 'ended');
    assert.equal(bench.context.result, result);
    bench.look({ runningId: 'c2' });
    assert.equal(bench.state, 'ended');
    assert.equal(bench.context.deadline, null);
  }
  const readiness = new ProbeBench('readiness', { failureThreshold: 1 });
  readiness.look();
  readiness.run(0);
  readiness.look({ stopped: 'livenessAndStartup' });
  assert.equal(readiness.run(1), 'failure');
});

test('a run that is under way when its probe is stopped is counted and told; it is the last one', () => {
  for (const kind of ['liveness', 'startup', 'readiness'] as const) {
    const bench = new ProbeBench(kind, { failureThreshold: 1 });
    bench.look({ adopted: true });
    bench.ring();
    bench.look({ stopped: 'all' });
    assert.equal(bench.state, 'probing');
    const effects = bench.done('cri.ExecSync', { exitCode: 1, output: 'no' });
    assert.deepEqual(
      effects.flatMap((e) => (e.type === 'event.Record' ? [e.params.reason] : [])),
      ['Unhealthy'],
    );
    bench.look();
    assert.equal(bench.state, 'ended');
    assert.equal(bench.context.deadline, null);
  }
});

test('a run of a container that has ended is not waited for', () => {
  const bench = new ProbeBench('liveness');
  bench.look();
  bench.ring();
  bench.look({ stopped: 'livenessAndStartup', runningId: '' });
  assert.equal(bench.state, 'ended');
});

test('with a final phase readiness ends as well, with what it said', () => {
  const bench = new ProbeBench('readiness');
  bench.look();
  bench.run(0);
  bench.look({ stopped: 'all' });
  assert.equal(bench.state, 'ended');
  assert.equal(bench.context.result, 'success');
});

test('as logs of before have it: a run is dropped, and what ends is success', () => {
  const bench = new ProbeBench('startup');
  bench.over.settings = { behaviour: [] };
  bench.look();
  bench.ring();
  bench.look({ stopped: 'livenessAndStartup' });
  assert.equal(bench.state, 'ended');
  assert.equal(bench.context.result, 'success');
});
