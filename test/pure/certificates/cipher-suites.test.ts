import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSecureContext, getCiphers } from 'node:tls';
import { TLS_CIPHER_SUITES } from '../../../actors/configure/configuration/tls-names.ts';
import { opensslName, tlsRules } from '../../../actors/serve/tls/cipher-suites.ts';

const TLS13 = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';

test('every suite that kubelet accepts is one of OpenSSL, but for RC4 and 3DES', () => {
  const known = new Set(getCiphers());
  const unknown = TLS_CIPHER_SUITES.filter((name) => {
    return !known.has((name.includes('_WITH_') ? opensslName(name) : name).toLowerCase());
  });
  assert.deepEqual(unknown, [
    'TLS_ECDHE_ECDSA_WITH_RC4_128_SHA',
    'TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA',
    'TLS_ECDHE_RSA_WITH_RC4_128_SHA',
    'TLS_RSA_WITH_3DES_EDE_CBC_SHA',
    'TLS_RSA_WITH_RC4_128_SHA',
  ]);
});

test('Go names become names of OpenSSL', () => {
  assert.equal(opensslName('TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA'), 'ECDHE-ECDSA-AES128-SHA');
  assert.equal(opensslName('TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384'), 'ECDHE-RSA-AES256-GCM-SHA384');
  assert.equal(opensslName('TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305'), 'ECDHE-RSA-CHACHA20-POLY1305');
  assert.equal(opensslName('TLS_RSA_WITH_AES_128_CBC_SHA256'), 'AES128-SHA256');
});

test('TLS 1.3 has its three suites whatever is chosen', () => {
  assert.match(tlsRules('', []).ciphers, new RegExp(`^${TLS13}:ECDHE-ECDSA-AES128-GCM-SHA256:`));
  assert.equal(tlsRules('', []).minVersion, 'TLSv1.2');
  const chosen = tlsRules('VersionTLS12', ['TLS_AES_128_GCM_SHA256', 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256']);
  assert.deepEqual(chosen, {
    minVersion: 'TLSv1.2',
    ciphers: `${TLS13}:ECDHE-RSA-AES128-GCM-SHA256`,
    warnings: [],
  });
  const newest = tlsRules('VersionTLS13', ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256']);
  assert.equal(newest.ciphers, TLS13);
  assert.match(newest.warnings.join(), /TLS 1\.3 cipher suites are not configurable/);
});

test('weak suites are told of, and a list of absent ones only is an error', () => {
  const weak = tlsRules('VersionTLS10', ['TLS_RSA_WITH_AES_128_CBC_SHA', 'TLS_RSA_WITH_RC4_128_SHA']);
  assert.equal(weak.minVersion, 'TLSv1');
  assert.equal(weak.ciphers, `${TLS13}:AES128-SHA:@SECLEVEL=0`);
  assert.equal(weak.warnings.filter((each) => each.startsWith('Use of insecure cipher')).length, 2);
  assert.throws(() => tlsRules('', ['TLS_RSA_WITH_RC4_128_SHA']), { code: 'CERT005' });
  for (const name of TLS_CIPHER_SUITES) {
    if (!/RC4|3DES/.test(name)) createSecureContext({ ciphers: tlsRules('', [name]).ciphers });
  }
});
