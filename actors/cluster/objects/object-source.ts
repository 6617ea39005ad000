import type { Logger } from 'pino';
import type { ObjectContent } from '../../../machines/protocol/ask.ts';
import type { ApiClient } from '../api/api-client.ts';
import { RESOURCE_OF } from './object-content.ts';
import type { ObjectKind } from './object-content.ts';
import { codedError } from './object-errors.ts';

/** Which object a source keeps. */
export interface ObjectRef {
  kind: ObjectKind;
  namespace: string;
  name: string;
}

/** What a source of one object needs. */
export interface ObjectSourceSettings {
  api: ApiClient;
  ref: ObjectRef;
  log: Logger;
  /** The content that pods see changed (also: appeared, vanished). Not called for the first answer. */
  onChange: () => void;
  /** A clock that nobody can set, ms. */
  steady: () => number;
  /** Longest wait in `get` for a first answer of the API server, in ms. */
  getTimeoutMs: number;
}

/** One object of the API server, kept as a strategy of `configMapAndSecretChangeDetectionStrategy` says. */
export interface ObjectSource {
  /** The content, or null when there is no such object. Rejects with an error that has a `code`. */
  get(): Promise<ObjectContent | null>;
  /** Another pod names the object now. */
  referenced(): void;
  /** Ends what runs in the background. */
  stop(): void;
  /** Called about once a minute; `shown`: volumes of pods show it. */
  tick(shown: boolean): void;
  /** False once it has lost its way to the API server: then it is not worth keeping without a pod. */
  readonly healthy: boolean;
}

/** Kubelet's words when the first answer does not come in time. */
export function notSynced(kind: ObjectKind, cause: unknown): Error {
  const resource = kind === 'secret' ? 'secret' : 'configmap';
  return codedError('Timeout', `failed to sync ${resource} cache: timed out waiting for the condition`, cause);
}

/** The collection in which the object is. */
export function collectionOf({ kind, namespace }: ObjectRef): {
  group: string;
  version: string;
  resource: string;
  namespace: string;
} {
  return { group: '', version: 'v1', resource: RESOURCE_OF[kind], namespace };
}
