import { createHash } from 'node:crypto';
import type { Certificate } from './certificate.ts';
import type { UserInfo } from './user-info.ts';

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
/** Kubernetes' own attribute for the UID of a user (KEP-4828, `X509UID`). */
const USER_UID = '1.3.6.1.4.1.57683.2';

/**
 * The user that a verified client certificate names: common name (the last one, as Go takes it), organizations as
 * groups, the UID attribute when `withUid` (feature gate AllowParsingUserUIDFromCertAuth), and the certificate's
 * fingerprint as credential id. Null without a common name: no opinion then. Throws on a bad UID.
 */
export function certificateUser({ names, raw }: Certificate, withUid: boolean): UserInfo | null {
  const of = (oid: string): string[] => names.filter((name) => name.oid === oid).map(({ value }) => value);
  const name = of(COMMON_NAME).at(-1);
  if (name === undefined || name === '') return null;
  const uids = withUid ? of(USER_UID) : [];
  if (uids.length > 1) throw new Error(`expected 1 UID, but found multiple: [${uids.join(' ')}]`);
  if (uids[0] === '') throw new Error('UID cannot be an empty string');
  const id = createHash('sha256').update(raw).digest('hex');
  return {
    name,
    uid: uids[0] ?? '',
    groups: of(ORGANIZATION),
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${id}`] },
  };
}

/** Serial number and key ids of a certificate, for messages. */
export function certificateIdentifier({ serial, subjectKeyId, authorityKeyId }: Certificate): string {
  const hex = (bytes: Buffer): string => (bytes.toString('hex').toUpperCase().match(/../g) ?? []).join(':');
  const number = serial.length === 0 ? 0n : BigInt.asIntN(serial.length * 8, BigInt(`0x${serial.toString('hex')}`));
  return `SN=${String(number)}, SKID=${hex(subjectKeyId)}, AKID=${hex(authorityKeyId)}`;
}
