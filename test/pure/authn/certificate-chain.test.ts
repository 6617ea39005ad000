import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { parseCertificate } from '../../../actors/serve/authn/certificate.ts';
import { verifyChain } from '../../../actors/serve/authn/certificate-chain.ts';
import { certificateIdentifier, certificateUser } from '../../../actors/serve/authn/x509-authenticator.ts';
import {
  COMMON_NAME,
  SERVER_AUTH,
  USER_UID,
  der,
  issueCertificate,
} from '../../simulated/authn/support/issue-certificate.ts';
import type { Issued, Wanted } from '../../simulated/authn/support/issue-certificate.ts';

const HOUR = 3_600_000;
const now = Date.now();
const root = issueCertificate({ commonName: 'root', ca: true });
const middle = issueCertificate({ commonName: 'middle', ca: true }, root);

function verify(leaf: Issued, intermediates: Issued[] = [], roots: Issued[] = [root], at = now): number {
  const parsed = (list: Issued[]) => list.map(({ der: raw }) => parseCertificate(raw));
  return verifyChain(parseCertificate(leaf.der), parsed(intermediates), parsed(roots), at).length;
}

const client = (more: Wanted = {}, issuer = root): Issued => issueCertificate({ commonName: 'alice', ...more }, issuer);

test('a chain to a root is found, over intermediates in any order', () => {
  const other = issueCertificate({ commonName: 'root', ca: true });
  const below = issueCertificate({ commonName: 'below', ca: true }, middle);
  assert.equal(verify(client()), 2);
  assert.equal(verify(client(), [], [other, root]), 2);
  assert.equal(verify(client({}, middle), [middle]), 3);
  assert.equal(verify(client({}, below), [below, middle]), 4);
  assert.equal(verify(client({}, below), [middle, below, other]), 4);
  const itself = issueCertificate({ commonName: 'alice' });
  assert.equal(verify(itself, [], [itself]), 1);
});

test('what is foreign, out of time or for another use is refused', () => {
  const refuse = (words: RegExp, ...args: Parameters<typeof verify>): void =>
    assert.throws(() => verify(...args), words);
  const stranger = issueCertificate({ commonName: 'root', ca: true });
  refuse(/unknown authority/, client({}, stranger));
  refuse(/unknown authority/, client({}, stranger), [stranger]);
  refuse(/unknown authority/, issueCertificate({ commonName: 'alice' }));
  refuse(/unknown authority/, client({}, middle));
  refuse(/expired or is not yet valid.* after/, client({ notAfter: now - 2000 }));
  refuse(/expired or is not yet valid.* before/, client({ notBefore: now + HOUR }));
  refuse(/incompatible key usage/, client({ usages: [SERVER_AUTH] }));
  refuse(/unhandled critical extension/, client({ extensions: [['1.2.3.4', true, der(0x05)]] }));
  refuse(/insecure/, client({ digest: 'sha1' }));
  const old = issueCertificate({ commonName: 'old', ca: true, notAfter: now - 2000 }, root);
  refuse(/expired/, client({}, old), [old]);
  const oldRoot = issueCertificate({ commonName: 'oldroot', ca: true, notAfter: now - 2000 });
  refuse(/expired/, client({}, oldRoot), [], [oldRoot]);
  const servers = issueCertificate({ commonName: 'servers', ca: true, usages: [SERVER_AUTH] }, root);
  refuse(/incompatible key usage/, client({}, servers), [servers]);
  const leaf = client();
  refuse(/cannot sign/, client({}, leaf), [leaf]);
  const noAuthority = issueCertificate({ commonName: 'x', ca: false }, root);
  refuse(/cannot sign/, client({}, noAuthority), [noAuthority]);
  const short = issueCertificate({ commonName: 'short', ca: true, pathLength: 0 });
  const between = issueCertificate({ commonName: 'between', ca: true }, short);
  assert.equal(verify(client({}, short), [], [short]), 2);
  refuse(/too many intermediates/, client({}, between), [between], [short]);
  const below = (name: Buffer) => der(0x30, der(0xa0, der(0x30, name)));
  const constrained = (name: Buffer) =>
    issueCertificate({ commonName: 'limited', ca: true, extensions: [['2.5.29.30', true, below(name)]] });
  const limited = constrained(der(0x82, Buffer.from('a.example')));
  assert.equal(verify(client({ dnsNames: ['b.a.example'] }, limited), [], [limited]), 2);
  assert.equal(verify(client({}, limited), [], [limited]), 2);
  refuse(/not authorized to sign for this name/, client({ dnsNames: ['b.example'] }, limited), [], [limited]);
  // An authority for one organization only: no name of its kind is looked at, so it must not be taken for one without limits.
  const team = constrained(der(0xa4, der(0x30)));
  refuse(/unhandled critical extension/, client({ organizations: ['system:masters'] }, team), [], [team]);
});

test('a certificate without extended key usages is good for any use, as in Go', () => {
  assert.equal(verify(client({ usages: [] })), 2);
  assert.equal(verify(client({ usages: ['2.5.29.37.0'] })), 2);
});

test('both ends belong to the time of a certificate', () => {
  const [from, until] = [1_700_000_000_000, 1_800_000_000_000];
  const life = { notBefore: from - HOUR, notAfter: until + HOUR };
  const authority = issueCertificate({ commonName: 'ca', ca: true, ...life });
  const leaf = client({ notBefore: from, notAfter: until }, authority);
  assert.equal(verify(leaf, [], [authority], from), 2);
  assert.equal(verify(leaf, [], [authority], until), 2);
  assert.throws(() => verify(leaf, [], [authority], from - 1));
  assert.throws(() => verify(leaf, [], [authority], until + 1));
});

/** Authorities of one name of which each has signed each. */
function mesh(size: number): { certificates: Issued[]; first: Issued } {
  const heads = Array.from({ length: size }, () => issueCertificate({ commonName: 'mesh', ca: true }));
  const certificates = heads.flatMap(({ key }) =>
    heads.map((issuer) => issueCertificate({ commonName: 'mesh', ca: true, key }, issuer)),
  );
  const [first] = heads;
  assert.ok(first);
  return { certificates, first };
}

test('strangers cost a check with a root’s key for each certificate, and none with their own', (t) => {
  const { certificates, first } = mesh(4);
  // Some say that the root has signed them: all that a stranger can say.
  const liars = Array.from({ length: 5 }, () =>
    issueCertificate(
      { commonName: 'mesh', ca: true, key: first.key },
      issueCertificate({ commonName: 'root', ca: true }),
    ),
  );
  const checks = t.mock.method(X509Certificate.prototype, 'verify');
  assert.throws(() => verify(client({}, first), [...certificates, ...liars]), /unknown authority/);
  assert.equal(checks.mock.callCount(), liars.length);
});

test('trusted authorities that all sign one another end the search instead of the CPU', (t) => {
  const { certificates, first } = mesh(5);
  const way = issueCertificate({ commonName: 'mesh', ca: true, key: first.key }, root);
  assert.equal(verify(client({}, first), [way, ...certificates]), 3);
  const checks = t.mock.method(X509Certificate.prototype, 'verify');
  assert.throws(() => verify(client({ usages: [SERVER_AUTH] }, first), [...certificates, way]), /attempts limit/);
  assert.ok(checks.mock.callCount() <= 150, `${checks.mock.callCount()} checks`);
});

test('the user is the common name, groups are the organizations', () => {
  const parsed = parseCertificate(client({ organizations: ['system:masters', 'dev'], serial: 5 }).der);
  const user = certificateUser(parsed, true);
  assert.deepEqual({ ...user, extra: {} }, { name: 'alice', uid: '', groups: ['system:masters', 'dev'], extra: {} });
  assert.match(user?.extra['authentication.kubernetes.io/credential-id']?.[0] ?? '', /^X509SHA256=[0-9a-f]{64}$/);
  assert.match(certificateIdentifier(parsed), /^SN=261, SKID=, AKID=$/);
  assert.equal(certificateUser(parseCertificate(issueCertificate({}, root).der), true), null);
  const two = issueCertificate(
    {
      attributes: [
        [COMMON_NAME, 'eve\nCN=root'],
        [COMMON_NAME, 'bob'],
      ],
    },
    root,
  );
  assert.equal(certificateUser(parseCertificate(two.der), true)?.name, 'bob');
});

test('the UID attribute gives the UID, when the gate is on', () => {
  const uid = (...values: string[]) =>
    parseCertificate(client({ attributes: values.map((value) => [USER_UID, value] as const) }).der);
  assert.equal(certificateUser(uid('u-1'), true)?.uid, 'u-1');
  assert.equal(certificateUser(uid('u-1'), false)?.uid, '');
  assert.throws(() => certificateUser(uid('a', 'b'), true), /expected 1 UID/);
  assert.throws(() => certificateUser(uid(''), true), /empty/);
});

test('no garbage is taken for a certificate', () => {
  const { der: good } = client();
  for (let at = 0; at < good.length; at += 7) {
    const cut = good.subarray(0, at);
    assert.throws(() => parseCertificate(cut), `cut at ${String(at)}`);
  }
  assert.throws(() => parseCertificate(Buffer.from([0x30, 0x80, 0, 0])));
});
