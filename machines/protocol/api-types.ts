import type {
  V1Container,
  V1ContainerStatus,
  V1EphemeralContainer,
  V1Pod,
  V1PodCondition,
  V1PodSpec,
  V1PodStatus,
  V1Probe,
  V1Volume,
} from '@kubernetes/client-node';

/**
 * An API object as plain JSON: the client's types with every `Date` as an RFC 3339 string.
 * Only such objects cross threads and reach the journal (docs/architecture.md, "Plain JSON").
 */
export type Plain<T> = T extends Date
  ? string
  : T extends (infer U)[]
    ? Plain<U>[]
    : T extends object
      ? { [K in keyof T]: Plain<T[K]> }
      : T;

/** A `v1.Pod` as plain JSON. */
export type Pod = Omit<Plain<V1Pod>, 'status'> & { status?: PodStatus };
/** A `v1.PodSpec` as plain JSON. */
export type PodSpec = Plain<V1PodSpec>;
/** A `v1.PodStatus` as plain JSON, with what the client's types do not have yet (KEP-5419, Kubernetes 1.35). */
export type PodStatus = Plain<V1PodStatus> & {
  /** Requests and limits of the whole pod that are in force. */
  resources?: NonNullable<Container['resources']>;
  /** Requests that are allocated to the whole pod. */
  allocatedResources?: Record<string, string>;
};
/** A `v1.PodCondition` as plain JSON. */
export type PodCondition = Plain<V1PodCondition>;
/** A `v1.Container` as plain JSON; init containers and sidecars have the same type. */
export type Container = Plain<V1Container>;
/** A `v1.EphemeralContainer` as plain JSON. */
export type EphemeralContainer = Plain<V1EphemeralContainer>;
/** A `v1.ContainerStatus` as plain JSON. */
export type ContainerStatus = Plain<V1ContainerStatus>;
/** A `v1.Probe` as plain JSON. */
export type Probe = Plain<V1Probe>;
/** A `v1.Volume` as plain JSON. */
export type Volume = Plain<V1Volume>;
