import assert from 'node:assert/strict';
import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { bootstrapCsrName, bootstrapUsages, usagesFor } from '../../../actors/cluster/certificates/csr-name.ts';
import { nodeTemplate } from '../../../actors/cluster/certificates/request-template.ts';

/** Names computed by a Go program with crypto/x509 and crypto/sha512, of public keys that it wrote as SPKI. */
const FROM_GO = [
  {
    spki: 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE6/bj4bVBFXQQhV1MLbQmf5SXmA0IZbG7vMldsCrUEiaVw+Xnfjz5V8vO8kq0oYOY82Pj1rCwAmxPMULuGa4Pcw==',
    usages: ['digital signature', 'client auth'],
    name: 'node-csr-sFvnO_H_gMbhypsAi4FaYhWvIPpV2udIY0qzEljmdVU',
  },
  {
    spki: 'MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA3kWVHi+Iu678/cqdNvjWi6mQoOqLx45XJL81NstP4ool64M5jjY38HzOyTswacOE2ZjhWVdzNBMNfXDXv7f4EGOgF9M8e8cewQo0I8oe+dXum06EY19E7VfGwDGfafS9O48/aXQUpWFPttrsgXCSU7jzFenoxq6yslX+brlPDk8pyfNFPfHM7vjQAOxkI0HIBTnN2g6k9gmGGLxh/4arGWJ8FOfsNP+CD6Ke1yHx4C625eSPyn2jMmAgcQzOYx+FY9M9jFB8fxmv+33bAszyU7otgB2zQsoT/7OlLmQ8SsfS7M6Hqc14AQ/WCPY2Hnvq8epxCdj3ECXvMO7SF/SEXQIDAQAB',
    usages: ['digital signature', 'client auth', 'key encipherment'],
    name: 'node-csr-VJG2niuYl5SP5Al3z6fuEbwNxowk7lPNeYsSKX2KYKc',
  },
];

test('a bootstrap request has the name that kubelet gives it', () => {
  for (const { spki, usages, name } of FROM_GO) {
    const key = createPublicKey({ key: Buffer.from(spki, 'base64'), type: 'spki', format: 'der' });
    assert.deepEqual(bootstrapUsages(key), usages);
    assert.equal(bootstrapCsrName(key, nodeTemplate('node-1'), usages), name);
    assert.notEqual(bootstrapCsrName(key, nodeTemplate('node-2'), usages), name);
  }
});

test('usages are those of the kind of key and of the signer', () => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  assert.deepEqual(usagesFor('kubernetes.io/kubelet-serving', ec), ['digital signature', 'server auth']);
  const withKey = ['digital signature', 'key encipherment'];
  assert.deepEqual(usagesFor('kubernetes.io/kubelet-serving', rsa), [...withKey, 'server auth']);
  assert.deepEqual(usagesFor('kubernetes.io/kube-apiserver-client-kubelet', rsa), [...withKey, 'client auth']);
});
