import type { DeviceOptions } from './device-options.ts';
import type { EnvEntry } from './cri-shapes.ts';
import type { MountedVolume } from './volume-traits.ts';
import type { LabelSelector } from '../values/label-selector.ts';

/** One configMap or secret as far as pods use it. `data` of a secret is decoded; binary values are base64 in `binaryData`. */
export interface ObjectContent {
  /** Text values by key. */
  data: Record<string, string>;
  /** Base64 values by key: a configMap's `binaryData`, and all values of a secret that are no UTF-8. */
  binaryData: Record<string, string>;
  /** A secret's type, '' for a configMap. */
  type: string;
  /** A secret's `metadata.uid`. */
  uid?: string;
}

/**
 * What a worker may ask of the main thread while it carries out an effect: the caches of the API server's objects
 * live there. Questions and answers are never journaled, so secret values may pass.
 */
export interface AskCatalog {
  /** `found` null when the API server says that there is none. Rejects when it cannot be asked. */
  'object.Get': {
    params: { kind: 'configMap' | 'secret'; namespace: string; name: string };
    result: { found: ObjectContent | null };
  };
  /** A projected token bound to the pod (TokenRequest), from the cache while it is fresh. */
  'token.Get': {
    params: {
      namespace: string;
      serviceAccount: string;
      podName: string;
      podUid: string;
      audience: string;
      expirationSeconds: number;
    };
    result: { token: string };
  };
  /** Certificates of ClusterTrustBundles as PEM. Rejects, in kubelet's words, when there are none and `optional` is false. */
  'trustBundle.Get': {
    params: { name?: string; signerName?: string; labelSelector?: LabelSelector; optional: boolean };
    result: { pem: string };
  };
  /** Key and certificates of a podCertificate source of a volume, both PEM. Rejects, in kubelet's words, while there are none. */
  'podCertificate.Get': {
    params: { podUid: string; volume: string; index: number };
    result: { key: string; chain: string };
  };
  /**
   * Variables of the services that the pod sees, in kubelet's order. Rejects while services have not been read once
   * (kubelet: `services have not yet been read at least once, cannot construct envvars`), but not for a `staticPod`,
   * which gets what is known: the API server itself may be one.
   */
  'services.Env': {
    params: { namespace: string; enableServiceLinks: boolean; staticPod?: true };
    result: { envs: EnvEntry[] };
  };
  /** `found` null when there is no RuntimeClass of this name; `handler` is what the runtime calls it (KEP-585). */
  'runtimeClass.Get': { params: { name: string }; result: { found: { handler: string } | null } };
  /**
   * May the pod use an image that is on the node (KEP-2535)? `unchecked` while nobody checks that. Answered without an
   * API server, too. `imageRef` is null of one that is not there.
   */
  'image.MayUse': {
    params: { podUid: string; image: string; imageRef: string | null };
    result: { allowed: boolean; unchecked?: true };
  };
  /** What the plugins gave a container, null when nothing. Plugins that want to be told of its start are. Answered without an API server, too. */
  'devices.Get': { params: { podUid: string; container: string }; result: { options: DeviceOptions | null } };
  /** The variables that plugins gave a container, whose start nobody is told of by it. Answered without an API server, too. */
  'devices.Envs': { params: { podUid: string; container: string }; result: { envs: EnvEntry[] } };
  /** Has the pod's ResourceClaims prepared. Rejects, in kubelet's words, when one is not. Answered without an API server, too. */
  'claims.Prepare': { params: { podUid: string }; result: Record<string, never> };
  /** Gives them back. Rejects, in kubelet's words, when one could not be. Answered without an API server, too. */
  'claims.Unprepare': { params: { podUid: string }; result: Record<string, never> };
  /**
   * Has a volume of the pod put where containers find it (`machines/volume-manager`), and answers where, with what they must know of it. Rejects in
   * kubelet's words. Answered without an API server, too.
   */
  'volume.Mount': { params: { podUid: string; volume: string }; result: MountedVolume };
  /**
   * What kubelet calls such a volume of the pod: by its PV, where a claim has led to it. Null: it is none of these, or was not looked up yet. Never
   * rejects. Answered without an API server, too.
   */
  'volume.Name': { params: { podUid: string; volume: string }; result: { name: string | null } };
  /** Has all such volumes of the pod taken away, and rejects when one of them stays. Answered without an API server, too. */
  'volume.Unmount': { params: { podUid: string }; result: Record<string, never> };
  /** Has a volume's folder counted by its file system (`actors/host/quota`). Never rejects. Answered without an API server, too. */
  'quota.Assign': { params: { folder: string; bytes: number }; result: Record<string, never> };
  /** Gives back what folders below this one were given. Never rejects. Answered without an API server, too. */
  'quota.Release': { params: { below: string }; result: Record<string, never> };
  /**
   * The block of ids of a pod with `hostUsers: false` (KEP-127); `handler` null: the pod has a sandbox already. Answered
   * without an API server, too.
   */
  'userns.Get': { params: { podUid: string; handler: string | null }; result: { hostId: number; length: number } };
}

/** Name of a question. */
export type AskType = keyof AskCatalog;

/** Questions that the node answers itself, with or without an API server; the others are about the API server's objects. */
export type NodeAskType =
  | 'image.MayUse'
  | 'devices.Get'
  | 'devices.Envs'
  | 'claims.Prepare'
  | 'claims.Unprepare'
  | 'volume.Mount'
  | 'volume.Name'
  | 'volume.Unmount'
  | 'quota.Assign'
  | 'quota.Release'
  | 'userns.Get';

/** Asks the main thread; rejects with an Error that has a `code`. Standalone nodes reject all with code `NoClient`. */
export type Ask = <T extends AskType>(what: T, params: AskCatalog[T]['params']) => Promise<AskCatalog[T]['result']>;
