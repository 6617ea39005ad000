/** A device that a driver has prepared for a claim (`dra/v1` `Device`). */
export interface ClaimDevice {
  pool: string;
  device: string;
  /** Which share of a device that several claims use; null when it is this claim's alone. */
  share: string | null;
  /** Requests of the claim that it is for; none: for all of them. */
  requests: readonly string[];
  /** Names by which the runtime puts it into containers. */
  cdi: readonly string[];
}

/** A ResourceClaim that pods of this node use (kubelet: ClaimInfo). */
export interface KnownClaim {
  uid: string;
  name: string;
  namespace: string;
  /** UIDs of pods that it was prepared for, or is to be. */
  pods: readonly string[];
  /** Devices by driver. A driver of the allocation stands here before it has prepared any. */
  drivers: Readonly<Record<string, readonly ClaimDevice[]>>;
  /** All its drivers have answered since this agent began. */
  prepared: boolean;
}

/** One call to a driver: claims by their keys. */
export interface DriverCall {
  driver: string;
  claims: readonly string[];
}

/** Claims of one pod on their way; drivers are asked one after the other, and the first that fails ends it. */
export interface ClaimWork {
  id: number;
  kind: 'prepare' | 'unprepare';
  pod: string;
  /** Keys of the claims: nobody else has work with them meanwhile. */
  claims: readonly string[];
  /** What a claim to prepare is, by key. */
  wanted: Readonly<Record<string, { uid: string; name: string; namespace: string; drivers: readonly string[] }>>;
  /** Calls that are left, the first of them under way; null while it waits for the work of others. */
  calls: readonly DriverCall[] | null;
}

/** A driver that has registered, or was there not long ago. */
export interface Driver {
  /** One of its plugins is registered. */
  registered: boolean;
  /** When its ResourceSlices are removed, ms of a clock that nobody sets; null while a plugin of it is connected, and after that. */
  wipeAt: number | null;
}

/** What a driver told of one of its devices (service `DRAResourceHealth`; kubelet: state.DeviceHealth). */
export interface DeviceHealth {
  pool: string;
  device: string;
  health: 'Healthy' | 'Unhealthy' | 'Unknown';
  /** When it was told, ms since the epoch: for the file that kubelet reads, too. */
  updatedAt: number;
  /** For how long the word holds, ms. */
  timeoutMs: number;
  /** Until when, ms of a clock that nobody sets. */
  until: number;
}

/** The memory of the claims manager, plain JSON. */
export interface ClaimState {
  /** By key, `namespace/name`. */
  readonly claims: Readonly<Record<string, KnownClaim>>;
  /** In the order in which it came. */
  readonly work: readonly ClaimWork[];
  /** Pieces of work so far. */
  readonly seq: number;
  readonly drivers: Readonly<Record<string, Driver>>;
  /** By driver, then by `pool/device`; absent while no driver has told any. */
  readonly health?: Readonly<Record<string, Readonly<Record<string, DeviceHealth>>>>;
}

/** Nothing is known. */
export const NO_CLAIMS: ClaimState = { claims: {}, work: [], seq: 0, drivers: {} };

/** A driver may be away for so long before its ResourceSlices are removed, ms (kubelet: defaultWipingDelay). */
export const WIPING_DELAY_MS = 30_000;

/** The name of a claim in the tables of this room. */
export function claimKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

/** Claims that a pod uses, or is about to. */
export function claimsOf({ claims }: Pick<ClaimState, 'claims'>, uid: string): string[] {
  return Object.keys(claims)
    .filter((key) => claims[key]?.pods.includes(uid))
    .sort();
}
