import { ActorletError } from '../../../machines/errors/define.ts';
import { certificateErrors } from '../../../machines/errors/certificate-errors.ts';
import type { TLS_VERSIONS } from '../../configure/configuration/tls-names.ts';
import type { SecureVersion } from 'node:tls';

/** What of TLS a configuration decides. */
export interface TlsRules {
  minVersion: SecureVersion;
  /** OpenSSL's list, TLS 1.3 suites included. */
  ciphers: string;
  /** What an operator should know. */
  warnings: string[];
}

const VERSIONS: Record<(typeof TLS_VERSIONS)[number], SecureVersion> = {
  VersionTLS10: 'TLSv1',
  VersionTLS11: 'TLSv1.1',
  VersionTLS12: 'TLSv1.2',
  VersionTLS13: 'TLSv1.3',
};

/** As in Go, TLS 1.3 has these three, whatever is configured. */
const TLS13 = ['TLS_AES_128_GCM_SHA256', 'TLS_AES_256_GCM_SHA384', 'TLS_CHACHA20_POLY1305_SHA256'];

/** Go's suites up to TLS 1.2 when none are configured: no RSA key exchange, no CBC with SHA-256. */
const PRESET = [
  'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
  'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256',
  'TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA',
  'TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA',
  'TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA',
];

/** `tls.InsecureCipherSuites` of Go: accepted, with a word of warning. */
const INSECURE = /^TLS_RSA_|_RC4_|_3DES_|_CBC_SHA256$/;
/** Not in Node's OpenSSL. */
const ABSENT = /_RC4_|_3DES_/;

/** OpenSSL's name of a suite up to TLS 1.2 that Go calls `name`. */
export function opensslName(name: string): string {
  const [exchange = '', cipher = ''] = name.replace(/^TLS_/, '').split('_WITH_');
  const prefix = exchange === 'RSA' ? '' : `${exchange.replaceAll('_', '-')}-`;
  if (cipher.startsWith('CHACHA20')) return `${prefix}CHACHA20-POLY1305`;
  return (
    prefix +
    cipher
      .replace(/^AES_(\d+)_/, 'AES$1-')
      .replace('CBC_', '')
      .replaceAll('_', '-')
  );
}

/** `tlsMinVersion` and `tlsCipherSuites` for Node. Throws CERT005 when none of the suites exists here. */
export function tlsRules(minVersion: '' | keyof typeof VERSIONS, suites: readonly string[]): TlsRules {
  const version = VERSIONS[minVersion === '' ? 'VersionTLS12' : minVersion];
  const warnings = suites
    .filter((name) => INSECURE.test(name))
    .map((name) => `Use of insecure cipher detected: ${name}`);
  if (version === 'TLSv1.3' && suites.length > 0) {
    warnings.push('Warning: TLS 1.3 cipher suites are not configurable, ignoring --tls-cipher-suites');
  }
  const absent = suites.filter((name) => ABSENT.test(name));
  warnings.push(...absent.map((name) => `Cipher suite is not available in this build of OpenSSL: ${name}`));
  if (absent.length > 0 && absent.length === suites.length) {
    throw new ActorletError(certificateErrors.noCipherLeft, { names: suites.join(', ') });
  }
  const wanted = suites.length === 0 ? PRESET : suites.filter((name) => !ABSENT.test(name) && !TLS13.includes(name));
  // OpenSSL holds TLS 1.0 and 1.1 for too weak at its usual level.
  const level = version === 'TLSv1' || version === 'TLSv1.1' ? ['@SECLEVEL=0'] : [];
  const old = version === 'TLSv1.3' ? [] : [...new Set(wanted.map(opensslName))];
  return { minVersion: version, ciphers: [...TLS13, ...old, ...(old.length > 0 ? level : [])].join(':'), warnings };
}
