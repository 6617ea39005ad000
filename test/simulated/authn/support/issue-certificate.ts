import { createPublicKey, generateKeyPairSync, sign } from 'node:crypto';
import type { KeyObject } from 'node:crypto';

/** A certificate with its key, to be shown or to sign others. */
export interface Issued {
  der: Buffer;
  pem: string;
  keyPem: string;
  key: KeyObject;
  subject: Name;
}

type Name = readonly (readonly [oid: string, value: string])[];

/** What a certificate is to say. Without anything: a good client certificate for an hour. */
export interface Wanted {
  commonName?: string;
  organizations?: readonly string[];
  /** More attributes of the subject. */
  attributes?: Name;
  notBefore?: number;
  notAfter?: number;
  /** BasicConstraints `cA`; with it the certificate signs others. */
  ca?: boolean;
  pathLength?: number;
  /** Extended key usages by OID; empty = without the extension. Client authentication by default, none for authorities. */
  usages?: readonly string[];
  /** DNS names; they make a server certificate. */
  dnsNames?: readonly string[];
  /** More extensions: OID, critical, DER. */
  extensions?: readonly (readonly [oid: string, critical: boolean, value: Buffer])[];
  /** `sha1` makes a weak signature. */
  digest?: 'sha256' | 'sha1';
  serial?: number;
  /** Private key of the certificate; a new one by default. */
  key?: KeyObject;
}

export const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
export const COMMON_NAME = '2.5.4.3';
export const USER_UID = '1.3.6.1.4.1.57683.2';

const HOUR = 3_600_000;

/** Makes any certificate, also wrong ones, signed by `issuer` or by itself. */
export function issueCertificate(wanted: Wanted = {}, issuer?: Issued): Issued {
  const privateKey = wanted.key ?? generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const publicKey = createPublicKey(privateKey);
  const subject: Name = [
    ...(wanted.organizations ?? []).map((value) => ['2.5.4.10', value] as const),
    ...(wanted.commonName === undefined ? [] : [[COMMON_NAME, wanted.commonName] as const]),
    ...(wanted.attributes ?? []),
  ];
  const usages = wanted.usages ?? (wanted.ca === true ? [] : [CLIENT_AUTH]);
  const extensions = [
    ...(wanted.ca === undefined ? [] : [extension('2.5.29.19', true, basic(wanted.ca, wanted.pathLength))]),
    ...(usages.length === 0 ? [] : [extension('2.5.29.37', false, der(0x30, ...usages.map(oid)))]),
    ...(wanted.dnsNames === undefined
      ? []
      : [extension('2.5.29.17', false, der(0x30, ...wanted.dnsNames.map((name) => der(0x82, Buffer.from(name)))))]),
    ...(wanted.extensions ?? []).map(([id, critical, value]) => extension(id, critical, value)),
  ];
  const algorithm = der(0x30, oid(wanted.digest === 'sha1' ? '1.2.840.10045.4.1' : '1.2.840.10045.4.3.2'));
  const now = Date.now();
  const tbs = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([0x01, (wanted.serial ?? Math.floor(Math.random() * 100)) & 0x7f])),
    algorithm,
    nameOf(issuer?.subject ?? subject),
    der(0x30, time(wanted.notBefore ?? now - HOUR), time(wanted.notAfter ?? now + HOUR)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length === 0 ? [] : [der(0xa3, der(0x30, ...extensions))]),
  );
  const signature = sign(wanted.digest ?? 'sha256', tbs, issuer?.key ?? privateKey);
  const whole = der(0x30, tbs, algorithm, der(0x03, Buffer.from([0]), signature));
  const body = whole.toString('base64').replace(/.{64}/g, '$&\n');
  return {
    der: whole,
    pem: `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`,
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    key: privateKey,
    subject,
  };
}

/** One DER element. */
export function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const head =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), content]);
}

function oid(dots: string): Buffer {
  const [first = 0, second = 0, ...rest] = dots.split('.').map(Number);
  const bytes: number[] = [];
  for (const part of [first * 40 + second, ...rest]) {
    const groups = [part & 0x7f];
    for (let left = part >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return der(0x06, Buffer.from(bytes));
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  return der(0x30, oid(id), ...(critical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value));
}

function basic(ca: boolean, pathLength: number | undefined): Buffer {
  return der(
    0x30,
    ...(ca ? [der(0x01, Buffer.from([0xff]))] : []),
    ...(pathLength === undefined ? [] : [der(0x02, Buffer.from([pathLength]))]),
  );
}

function nameOf(name: Name): Buffer {
  return der(0x30, ...name.map(([id, value]) => der(0x31, der(0x30, oid(id), der(0x0c, Buffer.from(value))))));
}

function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replace(/\.\d+/, '').replace(/[-:T]/g, '');
  return der(0x18, Buffer.from(text));
}
