import type { Logger } from 'pino';
import { publishContext } from '../../../machines/csi/attachment.ts';
import type { CsiSource, SecretName } from '../../../machines/csi/csi-source.ts';
import { mustAttach } from '../../../machines/csi/driver-rules.ts';
import type { CsiDriver } from '../../../machines/csi/storage-objects.ts';
import { messageOf } from '../../../machines/values/message-of.ts';
import { VolumeFailure } from '../volumes/volume-plugin.ts';
import type { CsiApi } from './csi-api.ts';
import type { CsiDrivers } from './csi-drivers.ts';
import { CsiCallError } from './csi-error.ts';
import { attachmentName } from './csi-names.ts';
import type { CsiNodeClient } from './node-client.ts';

/** What CSI volumes are made with. */
export interface CsiGround {
  /** Folder of all that the node keeps. */
  readonly rootDir: string;
  readonly nodeName: string;
  readonly drivers: Pick<CsiDrivers, 'client' | 'refreshes' | 'askAgain'>;
  /** Null on a standalone node. */
  readonly api: () => CsiApi | null;
  readonly log: Logger;
  /** Is health told with usage (gate CSIVolumeHealth)? */
  readonly volumeHealth: boolean;
  /** Longest time of one operation, ms; two minutes when absent. */
  readonly timeoutMs?: number;
}

/** Kubelet's prefix of what its CSI plugin says. */
export const says = (text: string): string => `kubernetes.io/csi: ${text}`;

/** The API server's side. Throws in kubelet's words where there is none. */
export function apiOf({ api }: CsiGround): CsiApi {
  const found = api();
  if (found === null) throw new VolumeFailure('NoApi', says('failed to get a kubernetes client'));
  return found;
}

/** What was thrown, as a failure of the volume: a call of which something may go on in the driver is not done. */
export function failureOf(error: unknown, words: (text: string) => string = (text) => text): VolumeFailure {
  if (error instanceof VolumeFailure) return error;
  const text = words(messageOf(error));
  if (error instanceof CsiCallError) return new VolumeFailure(error.code, text, { done: error.final, cause: error });
  const code = (error as { code?: unknown } | null)?.code;
  return new VolumeFailure(typeof code === 'string' ? code : 'Csi', text, { cause: error });
}

/** Awaits; what it throws is put in kubelet's words. */
export async function telling<T>(promise: Promise<T>, words: (text: string) => string): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw failureOf(error, words);
  }
}

/** Something before the call failed: nothing was begun in the driver, whatever the code is. */
export async function before<T>(promise: Promise<T>, words: (text: string) => string = (text) => text): Promise<T> {
  try {
    return await promise;
  } catch (error) {
    throw new VolumeFailure(error instanceof CsiCallError ? error.code : 'Csi', words(messageOf(error)), {
      cause: error,
    });
  }
}

/** Carries out one operation with a client of a volume's driver. */
export async function withClient<T>(
  ground: CsiGround,
  { driver, migrated }: Pick<CsiSource, 'driver' | 'migrated'>,
  signal: AbortSignal,
  words: (text: string) => string,
  operation: (client: CsiNodeClient) => Promise<T>,
): Promise<T> {
  const client = await before(ground.drivers.client(driver, signal, ground.timeoutMs, migrated), words);
  try {
    return await operation(client);
  } finally {
    client.close();
  }
}

/** What the controller's side says to the node's; nothing for a driver whose volumes are not attached. */
export async function publishContextOf(
  { nodeName }: CsiGround,
  api: CsiApi,
  driver: CsiDriver | null,
  source: CsiSource,
): Promise<Record<string, string>> {
  if (!mustAttach(driver)) return {};
  return publishContext(await api.attachment(attachmentName(source.handle, source.driver, nodeName)));
}

/** What is said of a secret that could not be had. @param ref e.g. `NodeStageSecretRef NAMESPACE/NAME` */
export type SecretWords = (ref: string, why: string) => string;

/** Kubelet's words for a file system's. */
export const fetchingFailed: SecretWords = (ref, why) => `fetching ${ref} failed: ${why}`;

/** A secret's content for a call. @param what e.g. `NodeStageSecretRef` */
export async function secretsOf(
  api: CsiApi,
  what: string,
  secret: SecretName | null,
  words: SecretWords = fetchingFailed,
): Promise<Record<string, string>> {
  if (secret === null) return {};
  const { namespace, name } = secret;
  return before(api.secret(namespace, name), (text) =>
    words(
      `${what} ${namespace}/${name}`,
      says(`failed to find the secret ${name} in the namespace ${namespace} with error: ${text}`),
    ),
  );
}
