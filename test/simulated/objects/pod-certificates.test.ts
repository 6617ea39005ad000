import assert from 'node:assert/strict';
import { createPublicKey, createPrivateKey, verify, constants } from 'node:crypto';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { PodCertificates } from '../../../actors/cluster/pod-certificates/pod-certificates.ts';
import type { RecordedEvent } from '../../../machines/protocol/recorded-event.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { until } from '../../tools/wait-for.ts';
import { apiBench } from './objects-bench.ts';

const REQUESTS = {
  ...{ group: 'certificates.k8s.io', version: 'v1beta1', resource: 'podcertificaterequests', namespace: 'shop' },
};
const ACCOUNTS = { group: '', version: 'v1', resource: 'serviceaccounts' };
const CREATE = { verb: 'create', resource: 'podcertificaterequests' } as const;
const ACCOUNT = { verb: 'get', resource: 'serviceaccounts' } as const;
const START = Date.parse('2030-01-01T00:00:00Z');
const HOUR = 3600_000;
const CHAIN = '-----BEGIN CERTIFICATE-----\nQUJD\n-----END CERTIFICATE-----\n';

interface Asked {
  metadata: { generateName: string; namespace: string };
  spec: {
    pkixPublicKey: string;
    proofOfPossession: string;
    podUID: string;
    nodeUID: string;
    serviceAccountUID: string;
  };
}

function podWith(keyType = 'ED25519', uid = 'uid-1'): Pod {
  const podCertificate = { signerName: 's/x', keyType, credentialBundlePath: 'b' };
  return {
    metadata: { name: 'web', namespace: 'shop', uid },
    spec: {
      ...{ containers: [], serviceAccountName: 'clerk' },
      volumes: [{ name: 'v', projected: { sources: [{ secret: { name: 'first' } }, { podCertificate }] } }],
    },
  };
}

/** A fake API server that names requests `req-1`, `req-2` ..., a clock, and what was told. */
async function bench(t: TestContext, { getTimeoutMs = 60_000, serverAheadMs = 0 } = {}) {
  const made = await apiBench(t);
  const { server, api, log } = made;
  const clock = { now: START };
  const refreshed: string[] = [];
  const events: RecordedEvent[] = [];
  const asked: Asked[] = [];
  server.put(ACCOUNTS, { metadata: { name: 'clerk', namespace: 'shop', uid: 'account' } });
  server.reply(CREATE, ({ body }) => {
    asked.push(body as Asked);
    const metadata = {
      ...{ name: `req-${asked.length}`, namespace: 'shop', uid: `request-${asked.length}` },
      creationTimestamp: new Date(clock.now + serverAheadMs).toISOString(),
    };
    const object = { ...(body as object), metadata };
    server.put(REQUESTS, object);
    return { code: 201, body: object };
  });
  const certificates = new PodCertificates({
    ...{ api, log, nodeName: 'n', nodeUid: () => 'node-uid', getTimeoutMs },
    ...{ now: () => clock.now, random: () => 0, passMs: 20 },
    events: { record: (event) => void ('object' in event && events.push(event)) },
    refresh: (uid) => refreshed.push(uid),
  });
  t.after(() => certificates.stop());
  /** The signer's answer to a request. */
  const answer = (name: string, type: string, more: object = {}): void => {
    const conditions = [{ type, status: 'True', reason: 'Why', message: 'so' }];
    server.put(REQUESTS, { ...server.get(REQUESTS, name), status: { conditions, ...more } });
  };
  const issue = (name: string, at: number): void =>
    answer(name, 'Issued', {
      certificateChain: `words\n${CHAIN}`,
      beginRefreshAt: new Date(at + 5 * HOUR).toISOString(),
      notAfter: new Date(at + 10 * HOUR).toISOString(),
    });
  const get = () => certificates.get('uid-1', 'v', 1);
  return { ...made, clock, refreshed, events, asked, certificates, answer, issue, get };
}

test('a certificate is asked for once, and refreshed when its time has come', async (t) => {
  const { certificates, asked, issue, get, clock, refreshed, events, logged } = await bench(t, {
    // what the watch has not told yet is not given up when the clock is moved
    serverAheadMs: 24 * HOUR,
  });
  certificates.register(podWith());
  certificates.register(podWith());
  const first = get();
  await until(() => asked.length === 1);
  assert.deepEqual(certificates.states(), [{ signerName: 's/x', state: 'not_yet_issued', count: 1 }]);
  issue('req-1', START);
  const { key, chain } = await first;
  assert.equal(chain, CHAIN);
  const spki = { key: Buffer.from(asked[0]?.spec.pkixPublicKey ?? '', 'base64'), format: 'der', type: 'spki' } as const;
  const publicKey = createPublicKey(spki);
  assert.ok(createPublicKey(createPrivateKey(key)).equals(publicKey));
  const proof = Buffer.from(asked[0]?.spec.proofOfPossession ?? '', 'base64');
  assert.ok(verify(null, Buffer.from('uid-1'), publicKey, proof));
  assert.equal(asked[0]?.spec.nodeUID, 'node-uid');
  assert.equal(asked[0]?.spec.serviceAccountUID, 'account');
  assert.deepEqual(refreshed, [], 'who waited has it');

  clock.now = START + 5 * HOUR;
  await until(() => asked.length === 2);
  assert.equal((await get()).key, key, 'the old one serves while the next one is made');
  clock.now = START + 11 * HOUR;
  await until(() => events.length === 2);
  const told = events.map(({ type, reason, message, object }) => [type, reason, message, object.uid]);
  assert.deepEqual(told, [
    ['Warning', 'CertificateOverdueForRefresh', 'PodCertificate refresh overdue', 'uid-1'],
    ['Warning', 'CertificateExpired', 'PodCertificate expired', 'uid-1'],
  ]);
  assert.equal(certificates.states()[0]?.state, 'expired');
  issue('req-2', clock.now);
  await until(() => refreshed.length === 1);
  const second = await get();
  assert.notEqual(second.key, key);
  assert.equal(certificates.states()[0]?.state, 'fresh');
  assert.equal(asked.length, 2);
  const secrets = [key, second.key].map((text) => text.split('\n')[1] ?? '-');
  assert.ok(!logged.some((line) => secrets.some((secret) => line.includes(secret))));
});

test('what takes too long is told as a failure, and shown when it comes; a refusal is final', async (t) => {
  const { certificates, asked, answer, issue, get, refreshed, events } = await bench(t, { getTimeoutMs: 10 });
  certificates.register(podWith());
  await assert.rejects(get, { code: 'NoCertificate', message: 'credential bundle is not issued yet' });
  await until(() => asked.length === 1);
  issue('req-1', START);
  await until(() => refreshed.length === 1);
  assert.equal((await get()).chain, CHAIN);

  certificates.register(podWith('RSA3072', 'uid-2'));
  const other = (): Promise<unknown> => certificates.get('uid-2', 'v', 1);
  await until(() => asked.length === 2);
  const { pkixPublicKey = '', proofOfPossession = '' } = asked[1]?.spec ?? {};
  const publicKey = createPublicKey({ key: Buffer.from(pkixPublicKey, 'base64'), format: 'der', type: 'spki' });
  const rsa = { key: publicKey, padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_AUTO };
  assert.ok(verify('sha256', Buffer.from('uid-2'), rsa, Buffer.from(proofOfPossession, 'base64')));
  answer('req-2', 'Denied');
  await until(() => events.length === 1);
  assert.equal(events[0]?.message, 'PodCertificateRequest shop/req-2 was denied, reason="Why", message="so"');
  const message = 'PodCertificateRequest was permanently denied: reason="Why" message="so"';
  await assert.rejects(other, { code: 'NoCertificate', message });
  certificates.forget('uid-2');
  await assert.rejects(other, { code: 'NotRegistered' });
  assert.equal((await get()).chain, CHAIN, 'the other pod has its own');
});

test('what the API server refuses is tried again; a request that somebody deletes is made anew', async (t) => {
  const { server, certificates, asked, issue, get, clock } = await bench(t);
  const lift = server.fault(CREATE, { do: 'fail', code: 500 });
  certificates.register(podWith('ECDSAP384'));
  await until(() => server.requestsOf(CREATE).length >= 2);
  lift();
  await until(() => asked.length === 1);
  server.remove(REQUESTS, 'req-1');
  clock.now += 10 * 60_000 + 1;
  await until(() => asked.length === 2);
  issue('req-2', clock.now);
  assert.equal((await get()).chain, CHAIN);
});

test('a pod that goes while its request is made leaves nothing; one of an unknown kind of key waits', async (t) => {
  const { server, certificates, asked, logged } = await bench(t, { getTimeoutMs: 10 });
  server.fault(ACCOUNT, { do: 'delay', ms: 50 }, 1);
  certificates.register(podWith());
  await until(() => server.requestsOf(ACCOUNT).length === 1);
  certificates.forget('uid-1');
  certificates.register(podWith('DSA', 'uid-2'));
  await until(() => logged.some((line) => line.includes('unknown key type')));
  assert.equal(asked.length, 0);
  await assert.rejects(certificates.get('uid-2', 'v', 1), { code: 'NoCertificate' });
});
