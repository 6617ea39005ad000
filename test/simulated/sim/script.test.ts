import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { parse } from 'yaml';
import { globMatches } from '../../../cri/sim/glob.ts';
import { parseImageName } from '../../../cri/sim/image-store.ts';
import { draw, drawBetween, hexId } from '../../../cri/sim/prng.ts';
import { checkScript, readScript } from '../../../cri/sim/read-script.ts';
import { startSimulatedRuntime } from '../../../cri/sim/simulated-runtime.ts';
import { bench } from './sim-client.ts';

test('durations, ranges and globs come out in one form', () => {
  const plan = checkScript({
    delays: [{ match: { rpc: 'Run*' }, takes: '1.5s' }, { takes: [10, '2m'] }],
    faults: [{ match: { pod: ['a', 'b*'] }, hang: '1h' }],
  });
  assert.deepEqual(plan.delays[0], { match: { rpc: ['Run*'] }, takes: { min: 1500, max: 1500 } });
  assert.deepEqual(plan.delays[1]?.takes, { min: 10, max: 120_000 });
  assert.deepEqual([plan.faults[0]?.match.pod, plan.faults[0]?.hang], [['a', 'b*'], 3_600_000]);
  assert.equal(plan.runtime.name, 'actorlet-sim');
});

test('every wrong field is named at once', () => {
  const wrong = {
    runtime: { podCIDRs: ['nonsense'], colour: 'red' },
    containers: [{ attempts: [{ exit: { code: 999 } }] }],
    faults: [{ match: {} }, { fail: { code: 'Nope' } }],
    delays: [{ takes: [5, 1] }],
  };
  assert.throws(
    () => checkScript(wrong, 'f.yaml'),
    (error: Error) => {
      assert.match(error.message, /^SIM003: The simulation script f.yaml has wrong values: /);
      for (const part of [
        'runtime.podCIDRs[0]: must be as 10.88.0.0/16',
        'colour',
        'containers[0].attempts[0]',
        'faults[0]: needs exactly one of fail and hang',
        'faults[1].fail.code',
        'delays[0].takes: the first value must not be above the second',
      ]) {
        assert.ok(error.message.includes(part), `${part} in ${error.message}`);
      }
      return true;
    },
  );
});

test('files: YAML, JSON, an empty one, a broken one, none', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'sim-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text);
    return join(dir, name);
  };
  assert.equal(readScript(file('a.yaml', 'seed: 5\n')).seed, 5);
  assert.equal(readScript(file('a.json', '{"seed": 6}')).seed, 6);
  assert.equal(readScript(file('empty.yaml', '')).seed, undefined);
  assert.throws(() => readScript(file('bad.yaml', 'a: [1')), /SIM002: .*bad.yaml is not valid YAML or JSON: .*line 1/);
  assert.throws(() => readScript(join(dir, 'none')), /SIM001: .*none cannot be read: ENOENT/);
});

test('the socket: in use, a file that is none, a path too long, a left-over', async (t) => {
  const b = await bench(t);
  await assert.rejects(startSimulatedRuntime({ socket: b.sim.socket }), /^ActorletError: SIM004/);
  const plain = join(b.dir, 'plain');
  writeFileSync(plain, '');
  await assert.rejects(startSimulatedRuntime({ socket: plain }), /SIM005: .*there is a file that is no socket/);
  await assert.rejects(startSimulatedRuntime({ socket: join(b.dir, 'x'.repeat(120)) }), /SIM005: .*too long/);
  await assert.rejects(startSimulatedRuntime({ socket: '/nonexistent/a.sock' }), /SIM005/);
  await assert.rejects(startSimulatedRuntime({ socket: plain, script: { seed: -1 } }), /SIM003/);
});

test('live control of what is not there says so', async (t) => {
  const b = await bench(t);
  assert.throws(() => b.sim.exitContainer('nope', 0), /SIM006: .*nope/);
  assert.throws(() => b.sim.exitSandbox('nope'), /SIM007: .*nope/);
});

test('draws: a function of seed and parts, within range, spread evenly', () => {
  fc.assert(
    fc.property(fc.nat(), fc.string(), fc.nat(1000), fc.nat(1000), (seed, part, min, width) => {
      const range = { min, max: min + width };
      const value = drawBetween(range, seed, part);
      assert.ok(value >= range.min && value <= range.max);
      assert.equal(value, drawBetween(range, seed, part));
      assert.match(hexId(seed, part), /^[0-9a-f]{64}$/);
    }),
  );
  const buckets = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i++) {
    const bucket = Math.floor(draw(1, 'pod', i) * 10);
    buckets[bucket] = (buckets[bucket] ?? 0) + 1;
  }
  for (const count of buckets) assert.ok(count > 850 && count < 1150, buckets.join());
  assert.notEqual(draw(1, 'a', 'b'), draw(1, 'ab'));
});

test('globs', () => {
  assert.ok(globMatches('web-?', 'web-1') && globMatches('*', '') && globMatches('a.b*', 'a.b\nc'));
  assert.ok(!globMatches('a.b', 'axb') && !globMatches('web', 'web-1') && !globMatches('?', ''));
});

test('image names are filled up as containerd does', () => {
  const full = (name: string) => parseImageName(name).full;
  assert.equal(full('busybox'), 'docker.io/library/busybox:latest');
  assert.equal(full('me/app:v1'), 'docker.io/me/app:v1');
  assert.equal(full('localhost/app'), 'localhost/app:latest');
  assert.equal(full('r.io:5000/a/b'), 'r.io:5000/a/b:latest');
  const digest = `sha256:${'a'.repeat(64)}`;
  assert.equal(full(`busybox:1.36@${digest}`), `docker.io/library/busybox@${digest}`);
  for (const bad of ['', 'Busybox', 'a b', 'a:', 'a@sha256:12'])
    assert.throws(() => parseImageName(bad), /invalid reference format/);
});

test('the example in the documentation is a valid script', () => {
  const text = readFileSync(new URL('../../../docs/simulated-runtime.md', import.meta.url), 'utf8');
  const yaml = /```yaml\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
  const plan = checkScript(parse(yaml));
  assert.equal(plan.containers.length, 4);
  assert.equal(plan.faults.length, 2);
});
