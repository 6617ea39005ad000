import { isAbsolute } from 'node:path';
import { ActorletError } from '../../../machines/errors/define.ts';
import { apiErrors } from '../../../machines/errors/api-errors.ts';
import { execCredentials } from './exec-credentials.ts';
import { fileCredentials } from './file-credentials.ts';
import { absolute, check, decodeData } from './kubeconfig-fields.ts';
import { userSchema } from './kubeconfig-schema.ts';
import type { Logger } from 'pino';
import type { Credentials } from './credentials.ts';
import type { FileOrText } from './file-credentials.ts';
import type { ClusterEntry, ExecEntry, UserEntry } from './kubeconfig-schema.ts';

/** The user of the current context and what surrounds it. */
export interface UserInput {
  /** Path of the kubeconfig. */
  where: string;
  /** Folder of the kubeconfig. */
  base: string;
  /** Path of the user in the file. */
  under: string;
  user: unknown;
  cluster: ClusterEntry;
  ca: () => string | undefined;
  log: Logger;
  now?: () => number;
}

/** Credentials of a kubeconfig's user: exec plugin, or token, basic authentication and client certificate. */
export function userCredentials(input: UserInput): Credentials {
  const { where, base, under } = input;
  const user = check(where, userSchema, input.user, under);
  refuseOthers(where, under, user);
  if (user.exec != null) return exec(input, user.exec);
  const given = (value: string | undefined): string | undefined => (value === '' ? undefined : value);
  const tokenFile = given(user.tokenFile);
  return fileCredentials({
    where,
    under,
    token: given(user.token),
    tokenFile: tokenFile === undefined ? undefined : absolute(base, tokenFile),
    username: given(user.username),
    password: user.password,
    ...clientCertificate(input, user),
    log: input.log,
    now: input.now,
  });
}

/** Where a user's client certificate and its key are; data wins over files. */
export function clientCertificate(
  input: Pick<UserInput, 'where' | 'base' | 'under'>,
  user: UserEntry,
): { cert?: FileOrText; key?: FileOrText } {
  const { where, under } = input;
  const part = (field: 'client-certificate' | 'client-key'): FileOrText | undefined => {
    const data = user[`${field}-data`] ?? '';
    const file = user[field] ?? '';
    // Data wins over the file, as in client-go.
    if (data !== '') return { text: decodeData(where, `${under}.${field}-data`, data) };
    return file === '' ? undefined : { file: absolute(input.base, file), field };
  };
  const cert = part('client-certificate');
  const key = part('client-key');
  if ((cert === undefined) !== (key === undefined)) {
    const missing = cert === undefined ? 'client-certificate' : 'client-key';
    const accepted = `a file, or ${missing}-data, as the other half of the pair is given`;
    throw new ActorletError(apiErrors.badField, { where, path: `${under}.${missing}`, got: 'nothing', accepted });
  }
  return { cert, key };
}

function refuseOthers(where: string, under: string, user: UserEntry): void {
  for (const [field, instead] of [
    ['auth-provider', 'Use an exec plugin.'],
    ['as', 'Give the node an identity of its own.'],
    ['as-uid', 'Give the node an identity of its own.'],
    ['as-groups', 'Give the node an identity of its own.'],
    ['as-user-extra', 'Give the node an identity of its own.'],
  ] as const) {
    if (user[field] != null) {
      throw new ActorletError(apiErrors.notSupported, { where, path: `${under}.${field}`, instead });
    }
  }
  const found = [
    user.token || user.tokenFile ? 'token' : '',
    user.username ? 'username' : '',
    user.exec == null ? '' : 'exec',
  ].filter((way) => way !== '');
  if (found.length > 1) {
    throw new ActorletError(apiErrors.manyWays, { where, path: under, found: found.join(', ') });
  }
}

function exec(input: UserInput, entry: ExecEntry): Credentials {
  const { where, base, cluster } = input;
  const path = `${input.under}.exec.interactiveMode`;
  if (entry.interactiveMode === undefined && entry.apiVersion.endsWith('/v1')) {
    const accepted = '"Never" or "IfAvailable" (v1 demands it)';
    throw new ActorletError(apiErrors.badField, { where, path, got: 'nothing', accepted });
  }
  if (entry.interactiveMode === 'Always') {
    const accepted = '"Never" or "IfAvailable", as a daemon has no terminal';
    throw new ActorletError(apiErrors.badField, { where, path, got: '"Always"', accepted });
  }
  // A bare name is looked for in PATH; one with a slash starts at the folder of the kubeconfig.
  const local = entry.command.includes('/') && !isAbsolute(entry.command);
  const command = local ? absolute(base, entry.command) : entry.command;
  return execCredentials({
    where,
    entry,
    command,
    ...(entry.provideClusterInfo === true && { cluster: clusterInfo(cluster, input.ca()) }),
  });
}

/** `Cluster` of client.authentication.k8s.io. */
function clusterInfo(cluster: ClusterEntry, ca: string | undefined): Record<string, unknown> {
  const config = cluster.extensions?.find(({ name }) => name === 'client.authentication.k8s.io/exec')?.extension;
  return {
    server: cluster.server,
    ...(cluster['tls-server-name'] && { 'tls-server-name': cluster['tls-server-name'] }),
    ...(cluster['insecure-skip-tls-verify'] === true && { 'insecure-skip-tls-verify': true }),
    ...(ca !== undefined && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(config !== undefined && { config }),
  };
}
