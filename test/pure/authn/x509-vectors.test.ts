import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { verifyChain } from '../../../actors/serve/authn/certificate-chain.ts';
import { parseCertificate } from '../../../actors/serve/authn/certificate.ts';

/** Certificates are DER as base64; without an error Go trusts the leaf. See test/tools/x509-vectors. */
interface Vector {
  name: string;
  leaf: string;
  intermediates?: string[];
  roots: string[];
  error?: string;
}

const record = JSON.parse(readFileSync(new URL('go-x509-vectors.json', import.meta.url), 'utf8')) as {
  now: string;
  chains: Vector[];
};

/** Trusted by Go and refused here: mappings of policies are not followed, and OpenSSL reads no time without seconds. */
const STRICTER = ['a mapping of any policy', 'a time without seconds'];

test('Go trusts and refuses the same of every recorded chain', () => {
  assert.ok(record.chains.length > 200);
  const wrong: string[] = [];
  for (const { name, leaf, intermediates = [], roots, error } of record.chains) {
    const parsed = (certificates: string[]) => certificates.map((der) => parseCertificate(Buffer.from(der, 'base64')));
    let said = 'good';
    try {
      const [client] = parsed([leaf]);
      assert.ok(client);
      verifyChain(client, parsed(intermediates), parsed(roots), Date.parse(record.now));
    } catch (thrown) {
      said = (thrown as Error).message;
    }
    const wanted = error === undefined && !STRICTER.includes(name);
    if ((said === 'good') !== wanted) wrong.push(`${name}: ${said}; Go: ${error ?? 'good'}`);
  }
  assert.deepEqual(wrong, []);
});
