import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { podsCommand, podTable, shortAge } from '../../../bin/commands/pods.ts';
import { row, startFakeAgent } from './fake-agent.ts';
import type { FakeAgent } from './fake-agent.ts';

const now = Date.parse('2026-01-02T03:04:35Z');

async function pods(...args: string[]): Promise<string> {
  let out = '';
  const command = podsCommand({ write: (text) => (out += text), now: () => now }).exitOverride();
  await command.parseAsync(args, { from: 'user' });
  return out;
}

describe('actorlet pods', () => {
  let agent: FakeAgent;
  before(async () => {
    agent = await startFakeAgent();
  });
  after(() => agent.server.close());

  it('prints an aligned table, sorted', async () => {
    agent.rows = [
      row(),
      row({
        namespace: 'a',
        name: 'b',
        phase: 'Pending',
        state: 'syncing.sandbox',
        ip: '',
        startedAt: '',
        restarts: 12,
        why: 'no network',
      }),
    ];
    assert.equal(
      await pods('--server', agent.server.url),
      [
        'POD                PHASE    STATE            RESTARTS  IP         AGE  WHY',
        'a/b                Pending  syncing.sandbox  12        -          -    no network',
        'default/web-node1  Running  syncing.running  0         10.88.0.2  30s  -',
        '',
      ].join('\n'),
    );
  });

  it('says so when there are none', async () => {
    agent.rows = [];
    assert.equal(await pods('--server', `${agent.server.url}/`), 'No pods on this node.\n');
  });

  it('prints JSON', async () => {
    agent.rows = [row()];
    assert.deepEqual(JSON.parse(await pods('--server', agent.server.url, '-o', 'json')), [row()]);
  });

  it('names address and flag when no agent answers', async () => {
    const gone = await startFakeAgent();
    await gone.server.close();
    await assert.rejects(pods('--server', gone.server.url), (error: Error) => {
      assert.match(error.message, /^SRV002: No agent answers at http:\/\/127\.0\.0\.1:\d+: ECONNREFUSED\./);
      assert.match(error.message, /--server http:\/\/ADDRESS:PORT/);
      return true;
    });
  });

  it('tells another server from an agent', async () => {
    const bodies = ['<html>', '{"kind":"PodList","pods":[]}'];
    const other = createServer((_request, response) => response.end(bodies.shift()));
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    try {
      await assert.rejects(pods('--server', url), /SRV003/);
      await assert.rejects(pods('--server', url), /SRV003/);
    } finally {
      other.closeAllConnections();
      other.close();
    }
  });

  it('refuses what is no URL', async () => {
    for (const bad of ['127.0.0.1:10255', 'ftp://x', 'node1'])
      await assert.rejects(pods('--server', bad), /^ActorletError: SRV004/);
  });

  it('writes ages as kubectl does', () => {
    const second = 1000;
    const ages = [-5, 0, 119, 120, 3 * 3600 - 1, 3 * 3600, 47 * 3600, 48 * 3600].map((s) => shortAge(s * second));
    assert.deepEqual(ages, ['0s', '0s', '119s', '2m', '179m', '3h', '47h', '2d']);
    assert.match(podTable([row({ startedAt: 'nonsense' })], now), / - {2}/);
  });
});
