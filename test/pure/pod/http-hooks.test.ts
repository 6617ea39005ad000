import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Effect } from '../../../machines/protocol/effects.ts';
import { ALL_BEHAVIOUR, BEHAVIOUR } from '../../../machines/protocol/behaviour.ts';
import { PodWorld, pod, settings } from './pod-world.ts';

type Lifecycle = NonNullable<NonNullable<ReturnType<typeof pod>['spec']>['containers'][number]['lifecycle']>;
type Get = Extract<Effect, { type: 'net.HttpGet' }>;

function withHooks(lifecycle: Lifecycle): ReturnType<typeof pod> {
  return pod({ containers: [{ name: 'c', image: 'img:1', imagePullPolicy: 'IfNotPresent', lifecycle }] });
}

const gets = (world: PodWorld) => world.effects.filter((e): e is Get => e.type === 'net.HttpGet');
const PLAIN = {
  error: {
    code: 'HTTPResponseToHTTPSClient',
    message: 'Get "https://10.88.0.2:8443/": http: server gave HTTP response to HTTPS client',
  },
};

test('a hook asks the pod as kube-lifecycle, and any answer is success', () => {
  const world = new PodWorld(withHooks({ postStart: { httpGet: { port: 80, path: 'ready?x=1' } } }));
  world.answers['net.HttpGet'] = () => ({ result: { status: 500, body: 'no' } });
  world.run(2_000);
  assert.equal(world.state, 'syncing.running');
  const [get] = gets(world);
  assert.deepEqual(get?.params.headers, [{ name: 'User-Agent', value: 'kube-lifecycle/1.35' }]);
  assert.equal(get?.params.host, '10.88.0.2');
  assert.equal(get?.params.scheme, 'http');
});

test('the pod may name its own User-Agent and host', () => {
  const httpGet = { port: 80, host: 'example.org', httpHeaders: [{ name: 'user-agent', value: 'mine' }] };
  const world = new PodWorld(withHooks({ postStart: { httpGet } }));
  world.run(2_000);
  assert.deepEqual(gets(world)[0]?.params.headers, [{ name: 'user-agent', value: 'mine' }]);
  assert.equal(gets(world)[0]?.params.host, 'example.org');
});

test('https that meets http is asked again over http, without the Authorization header, and told', () => {
  const httpHeaders = [
    { name: 'Authorization', value: 'Bearer x' },
    { name: 'A', value: 'b' },
  ];
  const world = new PodWorld(withHooks({ postStart: { httpGet: { port: 8443, scheme: 'HTTPS', httpHeaders } } }));
  world.answers['net.HttpGet'] = (e) => (e.type === 'net.HttpGet' && e.params.scheme === 'https' ? PLAIN : undefined);
  world.run(2_000);
  assert.equal(world.state, 'syncing.running');
  const [first, second, ...more] = gets(world);
  assert.equal(more.length, 0);
  assert.ok(first?.params.headers.some((h) => h.name === 'Authorization'));
  assert.equal(second?.params.scheme, 'http');
  assert.deepEqual(
    second?.params.headers.map((h) => h.name),
    ['A', 'User-Agent'],
  );
  assert.match(second?.key ?? '', /\/http$/);
  assert.ok(
    world.events.includes(
      'LifecycleHTTPFallback: request to HTTPS lifecycle hook 10.88.0.2:8443 got HTTP response, retry with HTTP succeeded',
    ),
  );
  const event = world.effects.find((e) => e.type === 'event.Record' && e.params.reason === 'LifecycleHTTPFallback');
  assert.ok(event?.type === 'event.Record' && event.params.fieldPath === undefined && event.params.type === 'Warning');
});

test('a fallback that fails too fails the hook, once', () => {
  const world = new PodWorld(withHooks({ postStart: { httpGet: { port: 8443, scheme: 'HTTPS' } } }));
  world.answers['net.HttpGet'] = () => PLAIN;
  world.run(100);
  assert.deepEqual(
    gets(world).map((e) => e.params.scheme),
    ['https', 'http'],
  );
  assert.ok(world.events.includes('FailedPostStartHook: PostStartHook failed'));
  assert.ok(!world.events.some((e) => e.startsWith('LifecycleHTTPFallback')));
});

test('why a hook failed is what https said first, whatever became of the request over http', () => {
  const message = (behaviour = settings.behaviour ?? []) => {
    const definition = withHooks({ postStart: { httpGet: { port: 8443, scheme: 'HTTPS', path: '/a' } } });
    const world = new PodWorld(definition, null, undefined, true, 'file', { behaviour });
    const refused = 'Get "http://10.88.0.2:8443/a": dial tcp 10.88.0.2:8443: connect: connection refused';
    world.answers['net.HttpGet'] = (e) =>
      e.type === 'net.HttpGet' && e.params.scheme === 'https'
        ? PLAIN
        : { error: { code: 'ECONNREFUSED', message: refused } };
    world.run(3_000);
    const waiting = world.effects
      .flatMap((e) => (e.type === 'status.Publish' ? (e.params.status.containerStatuses ?? []) : []))
      .map(({ state }) => state?.waiting)
      .find((each) => each?.reason === 'PostStartHookError');
    return waiting?.message ?? '';
  };
  assert.match(message(), /error: Get "https:\/\/10.88.0.2:8443\/a": http: server gave HTTP response to HTTPS client$/);
  const before = ALL_BEHAVIOUR.filter((change) => change !== BEHAVIOUR.triesAreToldOf);
  assert.match(message(before), /connection refused$/, 'as logs of before have it');
});

test('preStop falls back as well, and the grace period still bounds it', () => {
  const world = new PodWorld(withHooks({ preStop: { httpGet: { port: 8443, scheme: 'HTTPS' } } }));
  world.run(2_000);
  world.answers['net.HttpGet'] = (e) => (e.type === 'net.HttpGet' && e.params.scheme === 'https' ? PLAIN : 'hang');
  const began = world.at;
  world.send({
    type: 'pod.terminate',
    at: world.at,
    order: { reason: 'Removed', message: '', gracePeriodSeconds: 10 },
  });
  world.run(1_000);
  assert.equal(gets(world).at(-1)?.params.scheme, 'http');
  assert.equal(world.count('cri.StopContainer'), 0);
  world.run(9_100);
  assert.equal(world.count('cri.StopContainer'), 1, `after ${world.at - began} ms`);
  world.run(10_000);
  assert.ok(world.finished);
});
