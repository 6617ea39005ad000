import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { after, describe, it } from 'node:test';
import type { FastifyInstance } from 'fastify';
import { Profile } from 'pprof-format';
import { loadConfiguration } from '../../../actors/configure/configuration/load-configuration.ts';
import { addCheckpointRoutes } from '../../../actors/serve/server/checkpoint-routes.ts';
import { addConfigzRoutes } from '../../../actors/serve/server/configz-routes.ts';
import { addDebugFlagsRoutes } from '../../../actors/serve/server/debug-flags-routes.ts';
import { addSliRoutes, HealthSlis } from '../../../actors/serve/server/health-slis.ts';
import { addHealthzRoutes } from '../../../actors/serve/server/healthz-routes.ts';
import { createHttpApp, refuseOtherMethods } from '../../../actors/serve/server/http-app.ts';
import { addPprofRoutes } from '../../../actors/serve/server/pprof-routes.ts';
import { addRunningPodsRoutes } from '../../../actors/serve/server/running-pods-routes.ts';
import { kubeletPatterns } from '../../../actors/serve/server/serve-mux.ts';
import { addStatsRoutes } from '../../../actors/serve/server/stats-routes.ts';
import { addZpagesRoutes } from '../../../actors/serve/server/zpages-routes.ts';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { silent } from './fake-agent.ts';

const patterns = kubeletPatterns({
  debugging: true,
  healthChecks: ['ping', 'syncloop'],
  checkpoint: true,
  flagz: true,
  statusz: true,
});

/** An app with what `add` adds, as the kubelet server makes it. */
async function appOf(add: (app: FastifyInstance) => void): Promise<FastifyInstance> {
  const app = createHttpApp(silent, patterns);
  add(app);
  await refuseOtherMethods(app);
  return app;
}

/** A runtime that answers these calls only. */
function runtimeOf(calls: Record<string, (request: never) => unknown>): CriClient {
  const runtime = Object.fromEntries(
    Object.entries(calls).map(([name, answer]) => [name, (request: never) => Promise.resolve(answer(request))]),
  );
  return { runtime } as unknown as CriClient;
}

const labels = (uid: string, name: string) => ({
  'io.kubernetes.pod.name': name,
  'io.kubernetes.pod.namespace': 'ns',
  'io.kubernetes.pod.uid': uid,
});

describe('/runningpods/', () => {
  it("tells the runtime's pods, youngest first, and passes over what is not of this node", async () => {
    const cri = runtimeOf({
      listPodSandbox: () => ({
        items: [
          { metadata: { name: 'old', namespace: 'ns', uid: 'u1' }, createdAt: '1000', labels: labels('u1', 'old') },
          { metadata: { name: 'new', namespace: 'ns', uid: 'u2' }, createdAt: '2000', labels: labels('u2', 'new') },
          { metadata: { name: 'foreign', namespace: 'x', uid: 'u3' }, createdAt: '3000', labels: {} },
        ],
      }),
      listContainers: () => ({
        containers: [{ metadata: { name: 'web' }, image: { image: 'sha256:1' }, labels: labels('u1', 'old') }],
      }),
    });
    const app = await appOf((made) => addRunningPodsRoutes(made, cri));
    const answer = await app.inject('/runningpods/');
    assert.equal(answer.headers['content-type'], 'application/json');
    const { items } = answer.json<{ items: { metadata: { name: string }; spec: unknown }[] }>();
    assert.deepEqual(
      items.map(({ metadata, spec }) => [metadata.name, spec]),
      [
        ['new', { containers: [] }],
        ['old', { containers: [{ name: 'web', image: 'sha256:1', resources: {} }] }],
      ],
    );
    assert.equal((await app.inject('/runningpods?a=b')).headers.location, '/runningpods/?a=b');
    assert.equal((await app.inject({ method: 'POST', url: '/runningpods/' })).statusCode, 405);
  });

  it('says why it cannot', async () => {
    const fail = () => {
      throw new Error('the runtime is down');
    };
    const cri = { runtime: { listPodSandbox: async () => fail(), listContainers: async () => fail() } };
    const app = await appOf((made) => addRunningPodsRoutes(made, cri as unknown as CriClient));
    const answer = await app.inject('/runningpods/');
    assert.deepEqual([answer.statusCode, answer.body], [500, 'the runtime is down']);
  });
});

describe('pages of web services', () => {
  it('are for those who take what they make; of most kubelet does not know what that is', async () => {
    const app = await appOf((made) => {
      addRunningPodsRoutes(made, runtimeOf({}));
      addPprofRoutes(made);
    });
    const asked = async (url: string, accept: string) => {
      const { statusCode, body } = await app.inject({ url, headers: { accept } });
      return [statusCode, body];
    };
    const words = '406: Not Acceptable\n\nAvailable representations: ';
    assert.deepEqual(await asked('/runningpods/', 'text/plain'), [406, `${words}application/json`]);
    assert.deepEqual(await asked('/debug/pprof/cmdline', 'text/plain'), [406, words]);
    assert.equal((await asked('/debug/pprof/cmdline', 'text/plain, */*'))[0], 200);
  });
});

describe('/checkpoint/', () => {
  const pod: Pod = {
    metadata: { name: 'web', namespace: 'ns', uid: 'u1' },
    spec: { containers: [{ name: 'c' }], initContainers: [{ name: 'i' }] },
  };
  const folders: string[] = [];
  after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true }))));

  async function checkpoints(containers: object[], asked: object[]): Promise<FastifyInstance> {
    const rootDir = await mkdtemp(join(tmpdir(), 'checkpoint-'));
    folders.push(rootDir);
    const cri = runtimeOf({
      listPodSandbox: () => ({ items: [] }),
      listContainers: () => ({ containers }),
      checkpointContainer: (request: object) => asked.push(request),
    });
    const podNamed = (namespace: string, name: string) => (namespace === 'ns' && name === 'web' ? pod : undefined);
    const node = { nodeName: 'n', pods: () => [pod], podNamed };
    return appOf((app) =>
      addCheckpointRoutes(app, { node, cri, rootDir, timeoutMs: 120_000, now: () => Date.UTC(2026, 0, 2, 3, 4, 5) }),
    );
  }

  it('asks the runtime and names the file', async () => {
    const running = {
      ...{ id: 'abc', createdAt: '1000', metadata: { name: 'c' } },
      labels: { ...labels('u1', 'web'), 'io.kubernetes.container.name': 'c' },
    };
    const asked: { containerId: string; location: string; timeout: string }[] = [];
    const app = await checkpoints([running], asked);
    const answer = await app.inject({ method: 'POST', url: '/checkpoint/ns/web/c?timeout=500' });
    assert.equal(answer.statusCode, 200);
    const [request] = asked;
    assert.deepEqual([request?.containerId, request?.timeout], ['abc', '500']);
    assert.match(request?.location ?? '', /\/checkpoints\/checkpoint-web_ns-c-2026-01-02T03:04:05Z\.tar$/);
    assert.deepEqual(answer.json(), { items: [request?.location] });
    await app.inject({ method: 'POST', url: '/checkpoint/ns/web/c?timeout=1' });
    assert.equal(asked[1]?.timeout, '120', 'never less than the time that calls to the runtime have');
  });

  it("answers with kubelet's words", async () => {
    const app = await checkpoints([], []);
    for (const [url, status, body] of [
      ['/checkpoint/ns/other/c', 404, 'pod does not exist'],
      ['/checkpoint/ns/web/x', 404, 'container x does not exist'],
      ['/checkpoint/ns/web/c?timeout=soon', 404, 'cannot parse value of timeout parameter'],
      ['/checkpoint/ns/web/i', 500, 'checkpointing of ns/web/i failed (container i not found)'],
    ] as const) {
      const answer = await app.inject({ method: 'POST', url });
      assert.deepEqual([answer.statusCode, answer.body], [status, body], url);
    }
    const get = await app.inject('/checkpoint/ns/web/c');
    assert.deepEqual([get.statusCode, get.body, get.headers.allow], [405, '405: Method Not Allowed', 'POST']);
  });
});

describe('/configz', () => {
  it('tells the configuration in its v1beta1 form', async () => {
    const flags = [{ flag: '--fail-cgroupv1', path: 'failCgroupV1', value: false }];
    const { config } = loadConfiguration({ flags });
    const app = await appOf((made) => addConfigzRoutes(made, config));
    const { kubeletconfig } = (await app.inject('/configz')).json<{ kubeletconfig: Record<string, unknown> }>();
    assert.equal(kubeletconfig['syncFrequency'], '1m0s');
    assert.equal(kubeletconfig['failCgroupV1'], false);
  });
});

describe('/debug/flags/v', () => {
  it('sets the verbosity, and refuses what is no level', async () => {
    const set: number[] = [];
    const app = await appOf((made) => addDebugFlagsRoutes(made, true, (level) => set.push(level)));
    const put = (payload: string) => app.inject({ method: 'PUT', url: '/debug/flags/v', payload });
    assert.equal((await put('4')).body, 'successfully set klog.logging.verbosity to 4\n');
    assert.equal((await put('-1')).statusCode, 400);
    assert.match((await put('99999999999')).body, /^strconv\.ParseUint: parsing "99999999999": value out of range/);
    // It is read as 32 bits without a sign, and set as 32 bits with one.
    const words =
      'failed set klog.logging.verbosity 2147483648: strconv.ParseInt: parsing "2147483648": value out of range';
    const refusal = await put('2147483648');
    assert.deepEqual([refusal.statusCode, refusal.body], [400, `${words}\n`]);
    assert.equal((await app.inject('/debug/flags/v')).statusCode, 406);
    assert.deepEqual(set, [4]);
    const off = await appOf((made) => addDebugFlagsRoutes(made, false, (level) => set.push(level)));
    const refused = await off.inject({ method: 'PUT', url: '/debug/flags/v', payload: '4' });
    assert.deepEqual([refused.statusCode, refused.body], [405, 'flags endpoint is disabled.\n']);
  });
});

describe('/flagz and /statusz', () => {
  const options = {
    flags: () => ({ 'root-dir': '/r', 'cert-dir': '/c' }),
    statusz: true,
    startedAt: 0,
    uptimeMs: () => 3_723_000,
    binaryVersion: 'v1',
  };

  it('are text, or objects for those who ask for them', async () => {
    const app = await appOf((made) => addZpagesRoutes(made, options));
    const text = await app.inject({ url: '/flagz', headers: { accept: '' } });
    assert.match(text.body, /^\nkubelet flagz\nWarning: [^\n]+\ncert-dir=\/c\nroot-dir=\/r\n$/);
    assert.match((await app.inject('/statusz')).body, /\nUp: 1 hr 02 min 03 sec\n/);
    const accept = 'application/json;v=v1alpha1;g=config.k8s.io;as=Statusz';
    const status = (await app.inject({ url: '/statusz', headers: { accept } })).json<Record<string, unknown>>();
    assert.deepEqual([status['kind'], status['uptimeSeconds']], ['Statusz', 3723]);
    assert.equal((await app.inject({ url: '/flagz', headers: { accept: 'image/png' } })).statusCode, 406);
  });
});

describe('queries', () => {
  it('are read as Go reads them', async () => {
    const asked: string[] = [];
    const answer = (what: string) => () => {
      asked.push(what);
      return Promise.reject(new Error(what));
    };
    const stats = { summary: answer('all'), cpuAndMemory: answer('short') };
    const app = await appOf((made) => {
      addHealthzRoutes(made, [{ name: 'syncloop', check: () => null }], silent);
      addStatsRoutes(made, { stats, log: silent });
    });
    assert.equal((await app.inject('/healthz?verbose;x')).body, 'ok');
    assert.match((await app.inject('/healthz?verbose=0&exclude=ping')).body, /^\[\+\]ping excluded: ok$/m);
    const summary = async (query: string, form?: string) => {
      const headers = { 'content-type': 'application/x-www-form-urlencoded' };
      const url = `/stats/summary?${query}`;
      return (await app.inject(form === undefined ? { url } : { method: 'POST', url, headers, payload: form })).body;
    };
    assert.equal(await summary('only_cpu_and_memory=true'), 'Internal Error: short');
    assert.equal(await summary('', 'only_cpu_and_memory=tru%65'), 'Internal Error: short');
    assert.deepEqual(asked, ['short', 'short']);
    const malformed = 'Internal Error: parse form failed: ';
    assert.equal(await summary('only_cpu_and_memory=true;'), `${malformed}invalid semicolon separator in query`);
    assert.equal(await summary('a;b', 'x=%g0'), `${malformed}invalid URL escape "%g0"`);
    assert.deepEqual(asked, ['short', 'short'], 'nothing is measured for it');
  });
});

describe('/metrics/slis', () => {
  it('counts how the checks of /healthz end, until it is reset', async () => {
    let trouble: string | null = null;
    const slis = new HealthSlis();
    const app = await appOf((made) => {
      addHealthzRoutes(made, [{ name: 'syncloop', check: () => trouble }], silent, slis);
      addSliRoutes(made, slis);
    });
    await app.inject('/healthz');
    trouble = 'stuck';
    assert.equal((await app.inject('/healthz')).statusCode, 500);
    const { body } = await app.inject('/metrics/slis');
    assert.match(body, /^kubernetes_healthcheck\{name="syncloop",type="healthz"\} 0$/m);
    assert.match(body, /^kubernetes_healthchecks_total\{name="ping",status="success",type="healthz"\} 2$/m);
    assert.match(body, /^kubernetes_healthchecks_total\{name="syncloop",status="error",type="healthz"\} 1$/m);
    assert.equal((await app.inject({ method: 'DELETE', url: '/metrics/slis' })).body, 'metrics reset\n');
    assert.doesNotMatch((await app.inject('/metrics/slis')).body, /kubernetes_healthcheck/);
  });
});

describe('/debug/pprof/', () => {
  it('makes a CPU profile that pprof can read', async () => {
    const app = await appOf((made) => addPprofRoutes(made));
    const busy = setInterval(() => {
      for (const end = performance.now() + 5; performance.now() < end;) Math.sqrt(end);
    }, 1);
    try {
      const answer = await app.inject('/debug/pprof/profile?seconds=0.3');
      const bytes = answer.rawPayload[0] === 0x1f ? gunzipSync(answer.rawPayload) : answer.rawPayload;
      const profile = Profile.decode(bytes);
      assert.ok(profile.sample.length > 0);
      assert.ok(profile.stringTable.strings.includes('nanoseconds'));
    } finally {
      clearInterval(busy);
    }
    assert.equal((await app.inject('/debug/pprof/heap')).statusCode, 404);
    assert.match((await app.inject('/debug/pprof/')).body, /profile\?seconds=30/);
  });
});
