import { X509Certificate, createPrivateKey } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** A certificate with its key; replaced as a whole, so identity (`===`) tells whether it was rotated. */
export interface KeyPair {
  /** PEM of the certificate and of what lies between it and its authority. */
  cert: string;
  /** PEM. Secret: never log it. */
  key: string;
  leaf: X509Certificate;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g;
const PRIVATE_KEY = /-----BEGIN ([A-Z]+ )?PRIVATE KEY-----[\s\S]*?-----END ([A-Z]+ )?PRIVATE KEY-----/;

/** The certificates of a PEM text; throws when there is none or one cannot be read (`certutil.ParseCertsPEM`). */
export function certificatesIn(pem: string): X509Certificate[] {
  const blocks = pem.match(CERTIFICATE) ?? [];
  if (blocks.length === 0) throw new Error('data does not contain any valid RSA or ECDSA certificates');
  return blocks.map((block) => new X509Certificate(block));
}

/** Reads a certificate and the key that belongs to it; both may stand in one text. Throws an Error that shows no secret. */
export function readKeyPair(certPem: string, keyPem: string): KeyPair {
  const [leaf, ...others] = certificatesIn(certPem);
  if (leaf === undefined) throw new Error('no certificate');
  const block = PRIVATE_KEY.exec(keyPem)?.[0];
  if (block === undefined) throw new Error('failed to find a private key in the key input');
  if (!leaf.checkPrivateKey(readKey(block))) throw new Error('private key does not match public key');
  return { cert: [leaf, ...others].map((each) => each.toString()).join(''), key: `${block.trim()}\n`, leaf };
}

/** A private key from PEM; throws an Error that shows nothing of it. */
export function readKey(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch {
    throw new Error('failed to parse the private key');
  }
}

/** Whether the text is a private key of a kind that Kubernetes knows (RSA, ECDSA). */
export function isKey(pem: string): boolean {
  try {
    const type = readKey(pem).asymmetricKeyType;
    return type === 'rsa' || type === 'ec';
  } catch {
    return false;
  }
}
