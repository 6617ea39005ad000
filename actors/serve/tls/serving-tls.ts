import { readFileSync } from 'node:fs';
import type { Server, ServerOptions } from 'node:https';
import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { authErrors } from '../../../machines/errors/auth-errors.ts';
import { certificateErrors } from '../../../machines/errors/certificate-errors.ts';
import type { NodeAddresses } from '../../../machines/node-object/node-addresses.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { ApiClient } from '../../cluster/api/api-client.ts';
import { WatchedFile } from '../../cluster/api/watched-file.ts';
import { CertificateManager } from '../../cluster/certificates/certificate-manager.ts';
import { CertificateStore } from '../../cluster/certificates/certificate-store.ts';
import { realClock } from '../../cluster/certificates/clock.ts';
import type { Clock } from '../../cluster/certificates/clock.ts';
import { certificatesIn } from '../../cluster/certificates/key-pair.ts';
import type { KeyPair } from '../../cluster/certificates/key-pair.ts';
import { servingTemplate } from '../../cluster/certificates/request-template.ts';
import type { FeatureGates } from '../../configure/configuration/feature-gates.ts';
import type { KubeletConfiguration } from '../../configure/configuration/kubelet-configuration.ts';
import type { KubeletFlags } from '../../configure/configuration/kubelet-flags.ts';
import { CertificateFiles } from './certificate-files.ts';
import { tlsRules } from './cipher-suites.ts';
import { gateHandshakes } from './handshake-gate.ts';
import { selfSignedPair } from './self-signed.ts';
import type { PairPaths } from './self-signed.ts';

/** What serving TLS is made from. */
export interface ServingTlsOptions {
  config: Pick<
    KubeletConfiguration,
    'tlsCertFile' | 'tlsPrivateKeyFile' | 'tlsMinVersion' | 'tlsCipherSuites' | 'serverTLSBootstrap' | 'authentication'
  >;
  featureGates: FeatureGates;
  flags: Pick<KubeletFlags, 'certDir'>;
  nodeName: string;
  /** Addresses of the node as they were last found; asked each second while `serverTLSBootstrap` is on. */
  addresses: () => NodeAddresses;
  /** null on a standalone node: then no certificate is requested. */
  api: ApiClient | null;
  log: Logger;
  now: () => number;
  /** `kubelet_certificate_manager_server_rotation_seconds`. */
  onRotated?: (seconds: number) => void;
  /** `kubelet_server_expiration_renew_errors`. */
  onRenewFailure?: () => void;
  /** For tests. */
  clock?: Clock;
}

/** TLS of the kubelet server. */
export interface ServingTls {
  /** Options to make the server with. */
  serverOptions(): ServerOptions;
  /** Gives the server each new certificate; connections that are open keep theirs. */
  attach(server: Server): void;
  /** `kubelet_certificate_manager_server_ttl_seconds`; null when certificates are not requested (kubelet has no such series then). */
  ttlSeconds(): number | null;
  stop(): Promise<void>;
}

/** How often files are looked at, in ms. */
const LOOK_MS = 1_000;

/** A certificate to serve, from wherever. */
interface Source {
  current(): KeyPair | null;
  /** Looks whether it has changed. */
  look(): boolean;
  ttlSeconds(): number | null;
  stop(): Promise<void>;
}

/**
 * Prepares TLS by the configuration (`InitializeTLS`): configured files, certificates by CSR (`serverTLSBootstrap`), or a
 * self-signed one. Rejects with an ActorletError when a configured file cannot be used.
 */
export async function startServingTls(options: ServingTlsOptions): Promise<ServingTls> {
  const { config, log } = options;
  const rules = tlsRules(config.tlsMinVersion, config.tlsCipherSuites);
  for (const warning of rules.warnings) log.warn(warning);
  const { clientCAFile } = config.authentication.x509;
  const authorities = clientCAFile === '' ? undefined : new WatchedFile(clientCAFile, 0);
  let ca = authorities === undefined ? undefined : readAuthorities(clientCAFile);
  const servers = new Set<Server>();
  const serverOptions = (): ServerOptions => {
    const pair = source.current();
    return {
      ...(pair === null ? {} : { cert: pair.cert, key: pair.key }),
      // Clients choose by this list which of their certificates to show; authentication verifies them.
      ...(ca === undefined ? {} : { ca }),
      requestCert: ca !== undefined,
      rejectUnauthorized: false,
      minVersion: rules.minVersion,
      ciphers: rules.ciphers,
      honorCipherOrder: true,
    };
  };
  const refresh = (): void => {
    for (const server of servers) server.setSecureContext(serverOptions());
  };
  const source: Source = await sourceOf(options, refresh);
  const look = (): void => {
    const changed = source.look();
    const text = authorities === undefined || ca === undefined ? undefined : otherAuthorities(authorities, ca);
    if (text !== undefined) ca = text;
    if (changed || text !== undefined) refresh();
  };
  const timer = setInterval(look, LOOK_MS).unref();
  return {
    serverOptions,
    attach: (server) => {
      servers.add(server);
      server.once('close', () => servers.delete(server));
      const closed = () => (source.current() === null ? 'no serving certificate available for the kubelet' : null);
      gateHandshakes(server, closed, (remote, reason) =>
        log.info(`http: TLS handshake error from ${remote}: ${reason}`),
      );
    },
    ttlSeconds: () => source.ttlSeconds(),
    stop: async () => {
      clearInterval(timer);
      await source.stop();
    },
  };
}

async function sourceOf(options: ServingTlsOptions, onChange: () => void): Promise<Source> {
  const { config, featureGates: gates, flags, log } = options;
  if (config.serverTLSBootstrap) return requested(options, gates.enabled('AllowDNSOnlyNodeCSR'), onChange);
  const given = { certFile: config.tlsCertFile, keyFile: config.tlsPrivateKeyFile };
  const files = new CertificateFiles(await pathsOf(given, flags.certDir, options), log);
  const reloads = gates.enabled('ReloadKubeletServerCertificateFile');
  return {
    current: () => files.current(),
    look: () => reloads && files.look(),
    ttlSeconds: () => null,
    stop: () => Promise.resolve(),
  };
}

async function pathsOf(given: PairPaths, directory: string, options: ServingTlsOptions): Promise<PairPaths> {
  if (given.certFile === '' && given.keyFile === '') {
    return selfSignedPair(directory, options.nodeName, options.now(), options.log);
  }
  if (given.certFile !== '' && given.keyFile !== '') return given;
  throw new ActorletError(certificateErrors.halfPair, { cert: given.certFile, key: given.keyFile });
}

/** `serverTLSBootstrap`: the certificate manager; configured files serve until it has a certificate. */
function requested(options: ServingTlsOptions, allowDnsOnly: boolean, onChange: () => void): Source {
  const { config, flags, api, log } = options;
  const manager = new CertificateManager({
    signer: 'kubernetes.io/kubelet-serving',
    store: new CertificateStore({
      prefix: 'kubelet-server',
      directory: flags.certDir,
      certFile: config.tlsCertFile,
      keyFile: config.tlsPrivateKeyFile,
      log,
    }),
    template: () => servingTemplate(options.nodeName, options.addresses(), allowDnsOnly),
    api: api === null ? null : () => ({ api, release: () => undefined }),
    onChange,
    onRotated: options.onRotated,
    onRenewFailure: options.onRenewFailure,
    log,
    clock: options.clock ?? { ...realClock, now: options.now },
  });
  manager.start();
  return {
    current: () => manager.current(),
    look: () => false,
    ttlSeconds: () => manager.ttlSeconds(),
    stop: () => manager.stop(),
  };
}

function readAuthorities(path: string): string {
  try {
    return checked(readFileSync(path, 'utf8'));
  } catch (cause) {
    const reason = messageOf(cause);
    throw new ActorletError(authErrors.badClientCa, { path, reason }, { cause });
  }
}

/** The file's content when it is another one and good; authentication tells when it is bad. */
function otherAuthorities(file: WatchedFile, known: string): string | undefined {
  try {
    const text = file.read(true);
    return text === known ? undefined : checked(text);
  } catch {
    return undefined;
  }
}

function checked(pem: string): string {
  certificatesIn(pem);
  return pem;
}
