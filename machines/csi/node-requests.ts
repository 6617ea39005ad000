/** gRPC numbers of the access modes that Kubernetes has a name for (`VolumeCapability.AccessMode.Mode`). */
const MODES = { ReadOnlyMany: 3, ReadWriteMany: 5 } as const;

/** A driver that cannot tell several writers of one node from a single one (no SINGLE_NODE_MULTI_WRITER). */
const PLAIN = { ...MODES, ReadWriteOnce: 1, ReadWriteOncePod: 1 } as const;
const TELLING = { ...MODES, ReadWriteOnce: 7, ReadWriteOncePod: 6 } as const;

type AccessMode = (typeof PLAIN)[keyof typeof PLAIN] | (typeof TELLING)[keyof typeof TELLING] | 0;

/** The access mode as the driver knows it; 0 for one that is not known. @param tells it has SINGLE_NODE_MULTI_WRITER */
export function accessMode(mode: string, tells: boolean): AccessMode {
  const modes: Readonly<Record<string, AccessMode>> = tells ? TELLING : PLAIN;
  return Object.hasOwn(modes, mode) ? (modes[mode] ?? 0) : 0;
}

/** How a volume is to be used. */
export interface VolumeUse {
  block: boolean;
  /** `ReadWriteOnce` ... */
  accessMode: string;
  fsType: string;
  mountOptions: readonly string[];
  /** What the driver itself is to give the volume to; undefined: nobody asks for it, or it cannot. */
  fsGroup: number | undefined;
}

/** The same as the contract has it. @param tells the driver has SINGLE_NODE_MULTI_WRITER */
export function volumeCapability(use: VolumeUse, tells: boolean) {
  const mode = { mode: accessMode(use.accessMode, tells) };
  if (use.block) return { block: {}, accessMode: mode };
  return {
    mount: {
      fsType: use.fsType,
      mountFlags: [...use.mountOptions],
      volumeMountGroup: use.fsGroup === undefined ? '' : String(use.fsGroup),
    },
    accessMode: mode,
  };
}

/** The pod that a volume is published for. */
export interface PodIdentity {
  name: string;
  namespace: string;
  uid: string;
  serviceAccount: string;
}

/** What a driver that wants to know is told of the pod. */
export function podAttributes(pod: PodIdentity, ephemeral: boolean): Record<string, string> {
  return {
    'csi.storage.k8s.io/pod.name': pod.name,
    'csi.storage.k8s.io/pod.namespace': pod.namespace,
    'csi.storage.k8s.io/pod.uid': pod.uid,
    'csi.storage.k8s.io/serviceAccount.name': pod.serviceAccount,
    'csi.storage.k8s.io/ephemeral': String(ephemeral),
  };
}

/** A token as the API server gave it. */
export interface IssuedToken {
  token: string;
  /** RFC 3339. */
  expirationTimestamp: string;
}

/** Tokens by their audience, as a driver reads them; under kubelet's key. */
export function tokenAttributes(tokens: Readonly<Record<string, IssuedToken>>): Record<string, string> {
  const sorted = Object.fromEntries(
    Object.entries(tokens)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([audience, { token, expirationTimestamp }]) => [audience, { token, expirationTimestamp }]),
  );
  return { 'csi.storage.k8s.io/serviceAccount.tokens': JSON.stringify(sorted) };
}
