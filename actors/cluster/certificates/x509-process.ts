import { KeyObject, createPrivateKey, createPublicKey, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import type { JsonName } from '@peculiar/x509';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { RequestTemplate } from './request-template.ts';
import type { X509Answer, X509Task } from './x509.ts';

// tsyringe, which @peculiar/x509 registers its algorithms with, refuses to load without a polyfill of decorator
// metadata; no class of theirs has any. This is a process of its own, so nobody else sees it.
const noMetadata = () => undefined;
Object.assign(Reflect, { getMetadata: noMetadata, getOwnMetadata: noMetadata, defineMetadata: noMetadata });
const x509 = await import('@peculiar/x509');

const YEAR_MS = 365 * 24 * 3_600_000;
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  hash: 'SHA-256',
  modulusLength: 2048,
  publicExponent: new Uint8Array([1, 0, 1]),
};
const CURVES: Record<string, { namedCurve: string; hash: string }> = {
  prime256v1: { namedCurve: 'P-256', hash: 'SHA-256' },
  secp384r1: { namedCurve: 'P-384', hash: 'SHA-384' },
  secp521r1: { namedCurve: 'P-521', hash: 'SHA-512' },
};

/** Algorithms of a key, as Go's crypto/x509 chooses them. */
function algorithmOf(key: KeyObject): {
  import: webcrypto.AlgorithmIdentifier & object;
  sign: { name: string; hash: string };
} {
  const details = key.asymmetricKeyDetails;
  if (key.asymmetricKeyType === 'rsa') {
    const bits = details?.modulusLength ?? 2048;
    const hash = bits >= 4096 ? 'SHA-512' : bits >= 3072 ? 'SHA-384' : 'SHA-256';
    const algorithm = { name: RSA.name, hash };
    return { import: algorithm, sign: algorithm };
  }
  const curve = CURVES[details?.namedCurve ?? ''];
  if (curve === undefined) throw new Error(`keys of kind ${key.asymmetricKeyType ?? 'unknown'} cannot sign requests`);
  return {
    import: { name: 'ECDSA', namedCurve: curve.namedCurve } as webcrypto.AlgorithmIdentifier & object,
    sign: { name: 'ECDSA', hash: curve.hash },
  };
}

function nameOf(template: RequestTemplate): JsonName {
  return [...template.organizations.map((each) => ({ O: [each] })), { CN: [template.commonName] }];
}

function alternativeNames(dnsNames: readonly string[], ips: readonly string[]) {
  return new x509.SubjectAlternativeNameExtension([
    ...dnsNames.map((value) => ({ type: 'dns' as const, value })),
    ...ips.map((value) => ({ type: 'ip' as const, value })),
  ]);
}

async function request(keyPem: string, template: RequestTemplate): Promise<string> {
  const key = createPrivateKey(keyPem);
  const algorithm = algorithmOf(key);
  const { subtle } = webcrypto;
  const pkcs8 = key.export({ type: 'pkcs8', format: 'der' });
  const spki = createPublicKey(key).export({ type: 'spki', format: 'der' });
  const keys = {
    privateKey: await subtle.importKey('pkcs8', pkcs8, algorithm.import, false, ['sign']),
    publicKey: await subtle.importKey('spki', spki, algorithm.import, true, ['verify']),
  };
  const names = template.dnsNames.length + template.ips.length;
  const made = await x509.Pkcs10CertificateRequestGenerator.create({
    name: nameOf(template),
    keys,
    signingAlgorithm: algorithm.sign,
    extensions: names === 0 ? [] : [alternativeNames(template.dnsNames, template.ips)],
  });
  return `${made.toString('pem')}\n`;
}

/** Why a request that is there already is not ours, '' when it is. */
async function incompatible(pem: string, keyPem: string, template: RequestTemplate): Promise<string> {
  if (!pem.includes('-----BEGIN CERTIFICATE REQUEST-----')) return 'PEM block type must be CERTIFICATE REQUEST';
  const found = new x509.Pkcs10CertificateRequest(pem);
  const wanted = new x509.Name(nameOf(template)).toString();
  if (found.subject !== wanted) return `csr subjects differ: new: ${found.subject}, orig: ${wanted}`;
  const spki = createPublicKey(createPrivateKey(keyPem)).export({ type: 'spki', format: 'der' });
  const same = Buffer.from(found.publicKey.rawData).equals(spki);
  return same && (await found.verify()) ? '' : 'error validating signature new CSR against old key';
}

/** kubelet's self-signed form: an authority of its own that signs and is thrown away, both valid for a year. */
async function selfSigned(host: string, now: number): Promise<{ cert: string; key: string }> {
  const { subtle } = webcrypto;
  const make = () => subtle.generateKey(RSA, true, ['sign', 'verify']);
  const [ca, own] = await Promise.all([make(), make()]);
  // An hour earlier, for clocks that differ.
  const notBefore = new Date(now - 3_600_000);
  const span = { notBefore, notAfter: new Date(notBefore.getTime() + YEAR_MS), signingAlgorithm: RSA };
  const { KeyUsageFlags: usage } = x509;
  const both = usage.keyEncipherment | usage.digitalSignature;
  const seconds = String(Math.floor(now / 1000));
  const issuer: JsonName = [{ CN: [`${host}-ca@${seconds}`] }];
  const authority = await x509.X509CertificateGenerator.createSelfSigned({
    ...span,
    serialNumber: serialNumber(),
    name: issuer,
    keys: ca,
    extensions: [
      new x509.KeyUsagesExtension(both | usage.keyCertSign, true),
      new x509.BasicConstraintsExtension(true, undefined, true),
      await x509.SubjectKeyIdentifierExtension.create(ca.publicKey),
    ],
  });
  const certificate = await x509.X509CertificateGenerator.create({
    ...span,
    serialNumber: serialNumber(),
    issuer,
    subject: [{ CN: [`${host}@${seconds}`] }],
    publicKey: own.publicKey,
    signingKey: ca.privateKey,
    extensions: [
      new x509.KeyUsagesExtension(both, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.BasicConstraintsExtension(false, undefined, true),
      await x509.AuthorityKeyIdentifierExtension.create(ca.publicKey),
      isIP(host) === 0 ? alternativeNames([host], []) : alternativeNames([], [host]),
    ],
  });
  const key = KeyObject.from(own.privateKey).export({ type: 'pkcs1', format: 'pem' }).toString();
  return { cert: `${certificate.toString('pem')}\n${authority.toString('pem')}\n`, key };
}

/** 63 random bits, as hexadecimal text. */
function serialNumber(): string {
  const bytes = webcrypto.getRandomValues(new Uint8Array(8));
  bytes[0] = (bytes[0] ?? 0) & 0x7f;
  return Buffer.from(bytes).toString('hex');
}

async function perform(task: X509Task): Promise<X509Answer> {
  switch (task.do) {
    case 'request':
      return { text: await request(task.key, task.template) };
    case 'compare':
      return { text: await incompatible(task.request, task.key, task.template) };
    case 'selfSigned':
      return { pair: await selfSigned(task.host, task.now) };
  }
}

process.once('message', (task: X509Task) => {
  void perform(task)
    .catch((error: unknown): X509Answer => ({ failure: messageOf(error) }))
    .then((answer) => process.send?.(answer, () => process.disconnect()));
});
