import assert from 'node:assert/strict';
import { request } from 'node:http';
import { after, before, describe, it } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { prefersGzip } from '../../../actors/serve/server/metrics-page.ts';
import { row, startFakeAgent } from './fake-agent.ts';
import type { FakeAgent } from './fake-agent.ts';

const pod: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-node1', namespace: 'default', uid: '0123' },
  spec: { containers: [{ name: 'web', image: 'busybox' }] },
  status: { phase: 'Running', podIP: '10.88.0.2' },
};

describe('the read-only server', () => {
  let agent: FakeAgent;
  before(async () => {
    agent = await startFakeAgent([{ name: 'syncloop', check: () => null }]);
  });
  after(() => agent.server.close());

  it('serves /pods as a v1.PodList with status', async () => {
    agent.pods = [pod];
    const response = await fetch(`${agent.server.url}/pods`);
    assert.equal(response.headers.get('content-type'), 'application/json');
    const { apiVersion: _apiVersion, kind: _kind, ...item } = pod;
    assert.deepEqual(await response.json(), { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: [item] });
    assert.equal(pod.kind, 'Pod', 'the pod itself is left alone');
    assert.equal((await fetch(`${agent.server.url}/pods/`)).status, 200);
  });

  it('serves /pods without pods as Go writes such a list', async () => {
    agent.pods = [];
    const text = await (await fetch(`${agent.server.url}/pods`)).text();
    assert.equal(text, '{"kind":"PodList","apiVersion":"v1","metadata":{},"items":null}\n');
  });

  it('does not take TRACE for a page that there is not', async () => {
    const { port } = new URL(agent.server.url);
    const status = await new Promise((resolve, reject) => {
      request({ port, path: '/pods', method: 'TRACE' }, (answer) => {
        answer.resume();
        resolve([answer.statusCode, answer.headers.allow]);
      })
        .on('error', reject)
        .end();
    });
    assert.deepEqual(status, [405, 'GET']);
  });

  it('refuses those who do not take JSON, by the words of their Accept alone', async () => {
    const asked = async (accept: string, path = '/pods') => {
      const answer = await fetch(agent.server.url + path, { headers: { accept } });
      return [answer.status, await answer.text()] as const;
    };
    const refused = [406, '406: Not Acceptable\n\nAvailable representations: application/json'];
    for (const accept of ['text/plain', 'application/*', 'APPLICATION/JSON', 'text/html,'])
      assert.deepEqual(await asked(accept), refused, accept);
    for (const accept of ['', '*/*', 'application/json;q=0', 'text/html, */*;q=0.1', 'a,application/json ;v=1'])
      assert.equal((await asked(accept))[0], 200, accept);
    assert.equal((await asked('text/plain', '/healthz'))[0], 200, 'a plain handler does not look');
    const post = await fetch(`${agent.server.url}/pods`, { method: 'POST', headers: { accept: 'text/plain' } });
    assert.equal(post.status, 405);
  });

  it('serves /actorlet/pods', async () => {
    agent.rows = [row({ why: 'image busybox is being pulled' })];
    const body = await (await fetch(`${agent.server.url}/actorlet/pods`)).json();
    assert.deepEqual(body, { kind: 'ActorletPods', pods: agent.rows });
  });

  it('serves /metrics, up to date', async () => {
    agent.beforeScrape = () => {
      agent.metrics.runningPods.set(3);
    };
    const response = await fetch(`${agent.server.url}/metrics`);
    assert.equal(
      response.headers.get('content-type'),
      'text/plain; version=0.0.4; charset=utf-8; escaping=underscores',
    );
    assert.match(await response.text(), /^kubelet_running_pods 3$/m);
  });

  it('compresses pages of metrics for those who ask for that, and says since when it counts', async () => {
    for (const path of ['/metrics', '/metrics/probes']) {
      const plain = await fetch(agent.server.url + path, { headers: { 'accept-encoding': 'identity' } });
      const packed = await fetch(agent.server.url + path, { headers: { 'accept-encoding': 'gzip' } });
      assert.deepEqual([plain.headers.get('content-encoding'), packed.headers.get('content-encoding')], [null, 'gzip']);
      assert.match(packed.headers.get('process-start-time-unix') ?? '', /^\d{10}$/);
      assert.equal(packed.headers.get('content-type'), plain.headers.get('content-type'));
      const names = async (page: Response) => (await page.text()).match(/^# TYPE .*$/gm);
      assert.deepEqual(await names(packed), await names(plain));
    }
  });

  it('weighs Accept-Encoding as Go does: what is liked as much as no compression is not compressed', () => {
    for (const header of [
      'gzip',
      'gzip, deflate, br',
      'gzip;q=0.1',
      'identity;q=0.5, gzip',
      'br;q=1.0, gzip; q=0.8, *;q=0.1',
    ])
      assert.equal(prefersGzip(header), true, header);
    for (const header of [
      '',
      '*',
      'identity',
      'gzip, identity',
      'gzip;q=0',
      'GZIP',
      'br;level=1, gzip',
      ', gzip',
      'gzip;q=x',
    ])
      assert.equal(prefersGzip(header), false, header);
  });

  it('counts requests, also for paths that it does not have and those that are sent on', async () => {
    for (const path of ['/favicon.ico', '/stats'])
      await (await fetch(agent.server.url + path, { method: 'OPTIONS', redirect: 'manual' })).text();
    const text = await agent.metrics.text();
    for (const path of ['other', 'stats']) {
      const labels = `method="OPTIONS",path="${path}",server_type="readonly",long_running="false"`;
      assert.ok(text.includes(`kubelet_http_requests_total{${labels}} 1\n`), path);
    }
  });

  it('serves /healthz with its checks', async () => {
    const body = await (await fetch(`${agent.server.url}/healthz?verbose`)).text();
    assert.equal(body, '[+]ping ok\n[+]syncloop ok\nhealthz check passed\n');
  });

  it('serves nothing that changes anything: other paths 404, debugging and other methods 405', async () => {
    for (const path of ['/', '/configz', '/checkpoint/default/web/web'])
      assert.equal((await fetch(agent.server.url + path)).status, 404, path);
    for (const path of ['/run/default/web/web', '/exec/default/web/web', '/logs/']) {
      const answer = await fetch(agent.server.url + path);
      assert.deepEqual([answer.status, await answer.text()], [405, 'Debug endpoints are disabled.\n'], path);
    }
    assert.equal((await fetch(`${agent.server.url}/pods`, { method: 'DELETE' })).status, 405);
  });

  it('answers 500 when a provider throws, and lives on', async () => {
    agent.beforeScrape = () => {
      throw new Error('no figures');
    };
    const response = await fetch(`${agent.server.url}/metrics`);
    assert.deepEqual([response.status, await response.text()], [500, 'internal server error: no figures\n']);
    agent.beforeScrape = () => {};
    assert.equal((await fetch(`${agent.server.url}/metrics`)).status, 200);
  });
});
