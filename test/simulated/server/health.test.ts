import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { startHealthzServer } from '../../../actors/serve/server/healthz-server.ts';
import type { RunningServer } from '../../../actors/serve/server/http-listener.ts';
import { silent } from './fake-agent.ts';

describe('the healthz server', () => {
  let server: RunningServer;
  let reason: string | null = null;
  let bang = false;
  before(async () => {
    const syncloop = (): string | null => {
      if (bang) throw new Error('bang');
      return reason;
    };
    const checks = [{ name: 'syncloop', check: syncloop }];
    server = await startHealthzServer({ address: '127.0.0.1', port: 0, log: silent, checks });
  });
  after(() => server.close());

  async function get(
    path: string,
    init: RequestInit = {},
  ): Promise<[status: number, body: string, type: string | null]> {
    const response = await fetch(server.url + path, init);
    return [response.status, await response.text(), response.headers.get('content-type')];
  }

  it('says ok, and each check by itself', async () => {
    reason = null;
    assert.deepEqual(await get('/healthz'), [200, 'ok', 'text/plain; charset=utf-8']);
    assert.deepEqual((await get('/healthz/ping')).slice(0, 2), [200, 'ok']);
    assert.deepEqual((await get('/healthz/syncloop')).slice(0, 2), [200, 'ok']);
  });

  it('lists the checks with ?verbose', async () => {
    reason = null;
    assert.equal((await get('/healthz?verbose'))[1], '[+]ping ok\n[+]syncloop ok\nhealthz check passed\n');
  });

  it('answers 500 with a line for each check, the reason only on the page of the check', async () => {
    reason = 'sync Loop took longer than expected';
    const [status, body] = await get('/healthz');
    assert.equal(status, 500);
    assert.equal(body, '[+]ping ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n');
    assert.deepEqual((await get('/healthz/syncloop')).slice(0, 2), [500, `internal server error: ${reason}\n`]);
    assert.equal((await get('/healthz/ping'))[0], 200);
  });

  it('leaves out what ?exclude names', async () => {
    reason = 'broken';
    const [status, body] = await get('/healthz?exclude=syncloop&exclude=nothing&verbose');
    assert.equal(status, 200);
    assert.equal(
      body,
      '[+]ping ok\n[+]syncloop excluded: ok\nwarn: some health checks cannot be excluded: no matches for "nothing"\nhealthz check passed\n',
    );
  });

  it('takes a check that throws as failed', async () => {
    bang = true;
    assert.deepEqual((await get('/healthz/syncloop')).slice(0, 2), [500, 'internal server error: bang\n']);
    assert.equal((await get('/healthz'))[0], 500);
    bang = false;
  });

  it('answers 404 to other paths, and every method alike, as Go handlers do', async () => {
    assert.deepEqual((await get('/nothing')).slice(0, 2), [404, '404 page not found\n']);
    assert.deepEqual(await get('/healthz', { method: 'POST' }), await get('/healthz'));
  });

  it('refuses a request with too large a header', async () => {
    const response = await fetch(`${server.url}/healthz`, { headers: { 'x-large': 'x'.repeat(1_100_000) } });
    assert.equal(response.status, 431);
    await response.text();
  });

  it('names address, port and field when the port is taken', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const { port } = taken.address() as AddressInfo;
    try {
      await assert.rejects(
        startHealthzServer({ address: '127.0.0.1', port, log: silent, checks: [] }),
        (error: Error) => {
          assert.match(error.message, new RegExp(`^SRV001: .*127\\.0\\.0\\.1:${port}: EADDRINUSE.*healthzPort`));
          return true;
        },
      );
    } finally {
      taken.close();
    }
  });

  it('closes although a client keeps its connection open, and frees the port', async () => {
    const other = await startHealthzServer({ address: '127.0.0.1', port: 0, log: silent, checks: [] });
    await (await fetch(`${other.url}/healthz`)).text();
    await other.close();
    await assert.rejects(fetch(`${other.url}/healthz`));
  });
});
