import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lacking, metricState, stepCredential } from '../../../machines/pod-certificates/credential.ts';
import type { Credential, CredentialMessage, SeenRequest } from '../../../machines/pod-certificates/credential.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const initial: Credential = { state: 'initial' };

function look(at: number, seen: SeenRequest | null = null, jitterMs = 0): CredentialMessage {
  return { type: 'look', at, seen, jitterMs };
}

const asked = (createdAt: number, jitterMs = 0): CredentialMessage => ({
  ...{ type: 'asked', request: 'req-1', createdAt, jitterMs },
});

function seen(type?: string, more: Partial<SeenRequest> = {}): SeenRequest {
  const conditions = type === undefined ? [] : [{ type, reason: 'Why', message: 'so "it" is' }];
  return { name: 'ns/req-1', conditions, ...more };
}

/** Issued at 0 for ten hours, to be refreshed after five. */
const issued = seen('Issued', { beginRefreshAt: 5 * HOUR, notAfter: 10 * HOUR });

/** The states and orders that messages bring about, one after another. */
function run(from: Credential, ...messages: CredentialMessage[]) {
  let credential = from;
  const did: string[] = [];
  for (const message of messages) {
    const { next, orders } = stepCredential(credential, message);
    credential = next;
    did.push([next.state, ...orders.map((order) => (order.do === 'tell' ? order.reason : order.do))].join(' '));
  }
  return { credential, did };
}

test('from the request to the certificate, and to the next one', () => {
  const { did, credential } = run(
    initial,
    look(0),
    asked(0),
    look(1),
    look(2, seen()),
    look(3, issued, MINUTE),
    look(5 * HOUR),
    look(5 * HOUR + MINUTE),
    asked(5 * HOUR + MINUTE),
    look(5 * HOUR + 2 * MINUTE, seen()),
    look(5 * HOUR + 3 * MINUTE, seen('Issued', { beginRefreshAt: 15 * HOUR, notAfter: 20 * HOUR })),
  );
  assert.deepEqual(did, [
    ...['initial ask', 'wait', 'wait', 'wait', 'fresh adopt', 'fresh'],
    ...['fresh ask', 'waitRefresh', 'waitRefresh', 'fresh adopt'],
  ]);
  assert.deepEqual(credential, {
    ...{ state: 'fresh', beginRefreshAt: 15 * HOUR, notAfter: 20 * HOUR, overdueTold: false, expiredTold: false },
  });
});

test('a request that is not seen for ten minutes and the jitter is made anew; what there is stays', () => {
  const first = run(initial, asked(0, MINUTE), look(11 * MINUTE), look(11 * MINUTE + 1));
  assert.deepEqual(first.did, ['wait', 'wait', 'initial drop']);
  const fresh = run(initial, asked(0), look(1, issued)).credential;
  const again = run(fresh, asked(5 * HOUR), look(5 * HOUR + 10 * MINUTE + 1), look(5 * HOUR + 10 * MINUTE + 2));
  assert.deepEqual(again.did, ['waitRefresh', 'fresh drop', 'fresh CertificateOverdueForRefresh ask']);
});

test('late and expired certificates are told of once each, whatever state they are in', () => {
  const fresh = run(initial, asked(0), look(1, issued)).credential;
  const late = 5 * HOUR + 10 * MINUTE;
  const { did } = run(
    fresh,
    ...[look(late), look(late + 1), look(late + 2), asked(9 * HOUR), look(9 * HOUR, seen())],
    ...[look(10 * HOUR, seen()), look(10 * HOUR + 1, seen()), look(10 * HOUR + 2, seen())],
  );
  assert.deepEqual(did, [
    ...['fresh ask', 'fresh CertificateOverdueForRefresh ask', 'fresh ask', 'waitRefresh', 'waitRefresh'],
    ...['waitRefresh', 'waitRefresh CertificateExpired', 'waitRefresh'],
  ]);
});

test('denied and failed are for good, also while there is a certificate', () => {
  const fresh = run(initial, asked(0), look(1, issued), asked(5 * HOUR)).credential;
  for (const from of [run(initial, asked(0)).credential, fresh]) {
    for (const [type, state, was] of [
      ['Denied', 'denied', 'was denied'],
      ['Failed', 'failed', 'failed'],
    ] as const) {
      const { next, orders } = stepCredential(from, look(6 * HOUR, seen(type)));
      assert.deepEqual(orders, [
        { do: 'drop' },
        {
          ...{ do: 'tell', reason: type },
          message: `PodCertificateRequest ns/req-1 ${was}, reason="Why", message="so \\"it\\" is"`,
        },
      ]);
      assert.equal(
        lacking(next),
        `PodCertificateRequest was permanently ${state}: reason="Why" message="so \\"it\\" is"`,
      );
      assert.equal(metricState(next, 0), state);
      assert.deepEqual(run(next, look(100 * HOUR), look(200 * HOUR, issued), asked(3)).did, [state, state, state]);
    }
  }
});

test('what there is to show, and what the metric says', () => {
  const waiting = run(initial, asked(0)).credential;
  for (const none of [initial, waiting]) {
    assert.equal(lacking(none), 'credential bundle is not issued yet');
    assert.equal(metricState(none, 0), 'not_yet_issued');
  }
  const fresh = run(waiting, look(1, issued)).credential;
  for (const one of [fresh, run(fresh, asked(5 * HOUR)).credential]) {
    assert.equal(lacking(one), null);
    assert.equal(metricState(one, 5 * HOUR + 10 * MINUTE), 'fresh');
    assert.equal(metricState(one, 5 * HOUR + 10 * MINUTE + 1), 'overdue_for_refresh');
    assert.equal(metricState(one, 10 * HOUR + 1), 'expired');
  }
});
