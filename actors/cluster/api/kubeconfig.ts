import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { KUBERNETES_YAML } from '../../configure/configuration/kubernetes-yaml.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { apiErrors } from '../../../machines/errors/api-errors.ts';
import { absolute, check, decodeData } from './kubeconfig-fields.ts';
import { clusterSchema, kindOf, kubeconfigSchema } from './kubeconfig-schema.ts';
import { userCredentials } from './kubeconfig-user.ts';
import { WatchedFile } from './watched-file.ts';
import type { Logger } from 'pino';
import type { Credentials } from './credentials.ts';
import type { ClusterEntry } from './kubeconfig-schema.ts';
import type { z } from 'zod';
import { withoutEnd } from '../../../machines/values/trim.ts';

/** The server and the identity that a kubeconfig's current context names. */
export interface Kubeconfig {
  /** Base address; its path, if any, goes before `/api`. */
  server: URL;
  /** Authorities (PEM) that may have signed the server's certificate; undefined = the system's. Read anew when the file changes. */
  ca: () => string | undefined;
  insecure: boolean;
  /** Name that the server's certificate must have, if not the host of `server`. */
  serverName?: string;
  /** Namespace of the context, '' when it names none. */
  namespace: string;
  credentials: Credentials;
}

/** What reading needs besides the file. */
export interface LoadKubeconfigOptions {
  log: Logger;
  /** Monotonic milliseconds, for tests of rotation. */
  now?: () => number;
  /** Instead of those of the file's user, which then is not looked at. */
  credentials?: Credentials;
}

/** The entries that the current context names, checked no further than a program needs that writes another kubeconfig. */
export interface KubeconfigEntries {
  /** Absolute path of the file. */
  where: string;
  cluster: ClusterEntry;
  /** Path of the cluster in the file. */
  clusterAt: string;
  user: unknown;
  /** Path of the user in the file. */
  userAt: string;
  namespace: string;
}

/**
 * Reads a kubeconfig file (YAML or JSON) by its current context. Errors are ActorletErrors that name file, field and
 * accepted values, never a value. Relative paths start at the file's folder.
 */
export function loadKubeconfig(path: string, options: LoadKubeconfigOptions): Kubeconfig {
  return kubeconfigOf(readKubeconfig(path), options);
}

/** What entries say, wherever they are from; files that they name are read as those of a kubeconfig. Throws as {@link loadKubeconfig}. */
export function kubeconfigOf(entries: KubeconfigEntries, options: LoadKubeconfigOptions): Kubeconfig {
  const { where, cluster, clusterAt, user, userAt, namespace } = entries;
  const base = dirname(where);
  const { server, ca } = readCluster(where, clusterAt, base, cluster, options.now);
  const credentials =
    options.credentials ?? userCredentials({ ...options, where, base, under: userAt, user, cluster, ca });
  return {
    server,
    ca,
    insecure: cluster['insecure-skip-tls-verify'] ?? false,
    serverName: cluster['tls-server-name'],
    namespace,
    credentials,
  };
}

/** Reads the file and finds what its current context names. Throws as {@link loadKubeconfig}. */
export function readKubeconfig(path: string): KubeconfigEntries {
  const where = resolve(path);
  const json = readYaml(where);
  const file = check(where, kubeconfigSchema, json, '');
  const { context, at } = currentContext(where, file);
  const clusterIndex = file.clusters.findIndex(({ name }) => name === context.cluster);
  if (clusterIndex === -1) {
    throw unknownName(where, `contexts[${String(at)}].context.cluster`, 'cluster', context.cluster, file.clusters);
  }
  const clusterAt = `clusters[${String(clusterIndex)}].cluster`;
  const cluster = check(where, clusterSchema, file.clusters[clusterIndex]?.cluster, clusterAt);
  const users = file.users ?? [];
  const userIndex = users.findIndex(({ name }) => name === context.user);
  if (userIndex === -1 && (context.user ?? '') !== '') {
    throw unknownName(where, `contexts[${String(at)}].context.user`, 'user', context.user ?? '', users);
  }
  const userAt = `users[${String(userIndex)}].user`;
  const namespace = context.namespace ?? '';
  return { where, cluster, clusterAt, user: users[userIndex]?.user ?? {}, userAt, namespace };
}

function readYaml(where: string): unknown {
  let text: string;
  try {
    text = readFileSync(where, 'utf8');
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown reason';
    throw new ActorletError(apiErrors.unreadable, { where: `kubeconfig ${where}`, reason }, { cause });
  }
  // prettyErrors would quote the line in the message, which may hold a secret.
  const document = parseDocument(text, { ...KUBERNETES_YAML, prettyErrors: false });
  const error = document.errors[0];
  if (error !== undefined) {
    const before = text.slice(0, error.pos[0]).split('\n');
    const place = `line ${String(before.length)}, column ${String((before.at(-1)?.length ?? 0) + 1)}`;
    throw new ActorletError(apiErrors.notYaml, { where, reason: `${error.code} at ${place}` });
  }
  return document.toJS() as unknown;
}

function currentContext(where: string, file: z.infer<typeof kubeconfigSchema>) {
  const wanted = file['current-context'];
  const at = file.contexts.findIndex(({ name }) => name === wanted);
  const entry = file.contexts[at];
  if (entry === undefined) throw unknownName(where, 'current-context', 'context', wanted, file.contexts);
  return { context: entry.context, at };
}

function readCluster(where: string, under: string, base: string, cluster: ClusterEntry, now?: () => number) {
  if ((cluster['proxy-url'] ?? '') !== '') {
    throw new ActorletError(apiErrors.notSupported, {
      where,
      path: `${under}.proxy-url`,
      instead: 'Name an address in server that the node reaches directly, and remove proxy-url.',
    });
  }
  const caData = cluster['certificate-authority-data'] ?? '';
  const caFile = cluster['certificate-authority'] ?? '';
  if (cluster['insecure-skip-tls-verify'] === true && (caData !== '' || caFile !== '')) {
    const path = `${under}.insecure-skip-tls-verify`;
    const accepted = 'false or nothing when a certificate-authority is given';
    throw new ActorletError(apiErrors.badField, { where, path, got: 'true', accepted });
  }
  let ca: () => string | undefined = () => undefined;
  if (caData !== '') {
    const text = decodeData(where, `${under}.certificate-authority-data`, caData);
    ca = () => text;
  } else if (caFile !== '') ca = caFromFile(where, `${under}.certificate-authority`, absolute(base, caFile), now);
  const tls = ca() !== undefined || cluster['insecure-skip-tls-verify'] === true;
  return { server: readServer(where, `${under}.server`, cluster.server, tls), ca };
}

/** As client-go: without a scheme, https when anything says TLS, else http. */
function readServer(where: string, path: string, text: string, tls: boolean): URL {
  const url = URL.parse(text.includes('://') ? text : `${tls ? 'https' : 'http'}://${text}`);
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:') || url.username !== '') {
    const accepted = 'an address like https://host:6443';
    throw new ActorletError(apiErrors.badField, { where, path, got: url === null ? 'no URL' : kindOf(text), accepted });
  }
  url.pathname = withoutEnd(url.pathname, '/');
  return url;
}

function caFromFile(where: string, path: string, file: string, now: (() => number) | undefined) {
  const watched = new WatchedFile(file, 60_000, now ?? (() => performance.now()));
  const bad = (reason: string): ActorletError =>
    new ActorletError(apiErrors.badReference, { where, path, file, reason });
  let last: string;
  try {
    last = watched.read();
  } catch (error) {
    throw bad(`cannot be read (${(error as NodeJS.ErrnoException).code ?? 'unknown reason'})`);
  }
  if (!last.includes('-----BEGIN CERTIFICATE-----')) throw bad('has no PEM certificate in it');
  return () => {
    try {
      last = watched.read();
    } catch {
      // The one that was read before goes on to be used.
    }
    return last;
  };
}

function unknownName(where: string, path: string, kind: string, name: string, entries: { name: string }[]) {
  const known = entries.map((each) => `'${each.name}'`).join(', ') || 'none';
  return new ActorletError(apiErrors.unknownName, { where, path, kind, name, known });
}
