import type { Pod } from '../../../machines/protocol/api-types.ts';

/** The spec of a pod. */
export type PodSpec = NonNullable<Pod['spec']>;
/** A container of it, init containers included. */
export type ContainerSpec = PodSpec['containers'][number];
