import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenManager } from '../../../actors/cluster/objects/token-manager.ts';
import { apiBench } from './objects-bench.ts';
import type { ApiBench } from './objects-bench.ts';
import { until } from '../../tools/wait-for.ts';

const TOKENS = { verb: 'create', resource: 'serviceaccounts', subresource: 'token' } as const;
const ask = {
  namespace: 'default',
  serviceAccount: 'sa',
  podName: 'web',
  podUid: 'u1',
  audience: '',
  expirationSeconds: 3600,
};
const START = Date.parse('2030-01-01T00:00:00Z');

/** Tokens `token-1`, `token-2` ..., good for as long as is asked from the clock's time on. */
function issuer({ server }: ApiBench, clock: { now: number }) {
  let count = 0;
  server.reply(TOKENS, ({ body }) => {
    const { spec } = body as { spec: { expirationSeconds: number } };
    const expirationTimestamp = new Date(clock.now + spec.expirationSeconds * 1000).toISOString();
    return { code: 201, body: { spec, status: { token: `token-${++count}`, expirationTimestamp } } };
  });
}

async function tokensBench(t: Parameters<typeof apiBench>[0], due: string[] = []) {
  const bench = await apiBench(t);
  const clock = { now: START };
  issuer(bench, clock);
  const { api, log } = bench;
  const manager = new TokenManager({
    api,
    log,
    now: () => clock.now,
    random: () => 0.5,
    onDue: (uid) => due.push(uid),
  });
  t.after(() => {
    manager.close();
  });
  return { ...bench, clock, manager };
}

test('asks at the same time share one request, bound to the pod; later ones are served from the cache', async (t) => {
  const { server, manager } = await tokensBench(t);
  assert.deepEqual(await Promise.all([manager.get(ask), manager.get(ask)]), ['token-1', 'token-1']);
  assert.equal(await manager.get({ ...ask }), 'token-1');
  const [request, ...others] = server.requestsOf(TOKENS);
  assert.equal(others.length, 0);
  assert.equal(request?.path.split('?')[0], '/api/v1/namespaces/default/serviceaccounts/sa/token');
  assert.deepEqual((request?.body as { spec: unknown }).spec, {
    audiences: [],
    expirationSeconds: 3600,
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: 'u1' },
  });
  assert.equal(await manager.get({ ...ask, audience: 'vault' }), 'token-2');
  assert.deepEqual((server.requestsOf(TOKENS)[1]?.body as { spec: { audiences: unknown } }).spec.audiences, ['vault']);
  assert.equal(await manager.get({ ...ask, podUid: 'u2' }), 'token-3');
});

test('a token for a plugin names its service account by UID, and tells nobody that it is due', async (t) => {
  const due: string[] = [];
  const { server, clock, manager } = await tokensBench(t, due);
  const forPlugin = { ...ask, podUid: 'u9', audience: 'reg.io', serviceAccountUid: 'sa-1' };
  assert.equal(await manager.get(forPlugin), 'token-1');
  assert.deepEqual((server.requestsOf(TOKENS)[0]?.body as { metadata: unknown }).metadata, { uid: 'sa-1' });
  assert.equal(await manager.get({ ...forPlugin, serviceAccountUid: 'sa-2' }), 'token-2', 'the account was made anew');
  assert.equal(await manager.get(forPlugin), 'token-1');
  await manager.get({ ...ask, podUid: 'u8' });
  clock.now = START + 0.9 * 3600_000;
  // Whatever is asked next sets the timer anew: all that is due is told.
  await manager.get({ ...ask, podUid: 'u7' });
  await until(() => due.length > 0);
  assert.deepEqual(due, ['u8']);
  assert.equal(await manager.get(forPlugin), 'token-5');
});

test('a token is refreshed after 80 % of its life, or after a day', async (t) => {
  const { clock, manager } = await tokensBench(t);
  assert.equal(manager.dueBefore('u1'), null);
  await manager.get(ask);
  const due = START + 0.8 * 3600_000 - 5000;
  assert.equal(manager.dueBefore('u1'), due);
  clock.now = due - 1;
  assert.equal(await manager.get(ask), 'token-1');
  clock.now = due;
  assert.equal(await manager.get(ask), 'token-2');
  const long = { ...ask, podUid: 'u2', expirationSeconds: 10 * 24 * 3600 };
  await manager.get(long);
  assert.equal(manager.dueBefore('u2'), due + 24 * 3600_000 - 5000);
});

test('while the server is away the old token serves until it expires', async (t) => {
  const { server, clock, manager, logged } = await tokensBench(t);
  await manager.get(ask);
  const lift = server.fault(TOKENS, { do: 'fail', code: 500, message: 'no etcd' });
  clock.now = START + 3500_000;
  assert.equal(await manager.get(ask), 'token-1');
  assert.equal(await manager.get(ask), 'token-1');
  assert.equal(server.requestsOf(TOKENS).length, 2, 'not asked again at once');
  assert.ok((manager.dueBefore('u1') ?? 0) > clock.now);
  clock.now = START + 3600_000;
  await assert.rejects(manager.get(ask), /^Error: token "sa"\/"default"\/"web" expired and refresh failed: .*no etcd/);
  lift();
  assert.equal(await manager.get(ask), 'token-2');
  assert.match(logged.join(''), /Couldn't update token/);
  assert.doesNotMatch(logged.join(''), /token-\d/);
});

test("a first ask that fails says why; the Node authorizer's first 403 is tried again", async (t) => {
  const { server, manager } = await tokensBench(t);
  server.fault(TOKENS, { do: 'fail', code: 404, reason: 'NotFound', message: 'serviceaccounts "sa" not found' }, 1);
  await assert.rejects(manager.get(ask), {
    code: 'NotFound',
    message: 'failed to fetch token: serviceaccounts "sa" not found',
  });
  server.fault(TOKENS, { do: 'fail', code: 403, reason: 'Forbidden' }, 2);
  assert.equal(await manager.get(ask), 'token-1');
});

test('a pod that is gone leaves no token, also not one that is still on its way', async (t) => {
  const { server, manager } = await tokensBench(t);
  await manager.get(ask);
  manager.forget('u1');
  assert.equal(manager.dueBefore('u1'), null);
  server.fault(TOKENS, { do: 'delay', ms: 50 }, 1);
  const late = manager.get(ask);
  manager.forget('u1');
  assert.equal(await late, 'token-2');
  assert.equal(manager.dueBefore('u1'), null);
});

test('who is due is told once, and again after the next refresh', async (t) => {
  const due: string[] = [];
  const { api, log, server } = await apiBench(t);
  issuer({ server } as ApiBench, {
    get now() {
      return Date.now();
    },
  });
  const manager = new TokenManager({ api, log, random: () => 0, onDue: (uid) => due.push(uid) });
  t.after(() => {
    manager.close();
  });
  const short = { ...ask, expirationSeconds: 0.1 };
  await manager.get(short);
  await until(() => due.length === 1);
  await manager.get(short);
  await until(() => due.length === 2);
  assert.deepEqual(due, ['u1', 'u1']);
});

test('pods that come and go set no timer of their own: Node keeps one of each duration until that is over', async (t) => {
  const { clock, manager } = await tokensBench(t);
  await manager.get({ ...ask, podUid: 'first' });
  const made = t.mock.method(globalThis, 'setTimeout');
  const rings = () => made.mock.calls.filter(({ arguments: [, ms] }) => Number(ms) > 600_000).length;
  for (let i = 0; i < 20; i++) {
    clock.now += 7;
    await manager.get({ ...ask, podUid: `p${i}` });
    manager.forget(`p${i}`);
  }
  assert.equal(rings(), 0);
  // An earlier one rings earlier.
  await manager.get({ ...ask, podUid: 'soon', expirationSeconds: 1_200 });
  assert.equal(rings(), 1);
});
