import { constants, generateKeyPair, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { promisify } from 'node:util';

const generate = promisify(generateKeyPair);

/** A new key for a pod, with what a PodCertificateRequest says of it. */
export interface ProvenKey {
  /** PEM of PKCS #8. Secret: never log it. */
  key: string;
  /** DER of the public key (PKIX), base64. */
  publicKey: string;
  /** The pod's UID signed with the key, base64. */
  proof: string;
}

/** The kinds that the API server lets pass (`keyType`). */
const KINDS: Readonly<Record<string, () => Promise<{ privateKey: KeyObject; publicKey: KeyObject }>>> = {
  RSA3072: () => generate('rsa', { modulusLength: 3072 }),
  RSA4096: () => generate('rsa', { modulusLength: 4096 }),
  ECDSAP256: () => generate('ec', { namedCurve: 'P-256' }),
  ECDSAP384: () => generate('ec', { namedCurve: 'P-384' }),
  ECDSAP521: () => generate('ec', { namedCurve: 'P-521' }),
  ED25519: () => generate('ed25519', {}),
};

/** Makes a key off the main thread. Rejects for a kind that is not known. */
export async function newProvenKey(keyType: string, podUid: string): Promise<ProvenKey> {
  const make = Object.hasOwn(KINDS, keyType) ? KINDS[keyType] : undefined;
  if (make === undefined) throw new Error(`while generating keypair: unknown key type ${JSON.stringify(keyType)}`);
  const { privateKey, publicKey } = await make();
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    proof: proofOf(privateKey, Buffer.from(podUid)).toString('base64'),
  };
}

/** SHA-256 for all curves, PSS with the longest salt for RSA, as kubelet's; Ed25519 hashes by itself. */
function proofOf(key: KeyObject, text: Buffer): Buffer {
  if (key.asymmetricKeyType === 'ed25519') return sign(null, text, key);
  if (key.asymmetricKeyType !== 'rsa') return sign('sha256', text, key);
  const { RSA_PKCS1_PSS_PADDING: padding, RSA_PSS_SALTLEN_MAX_SIGN: saltLength } = constants;
  return sign('sha256', text, { key, padding, saltLength });
}
