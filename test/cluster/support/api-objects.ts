import type {
  CoreV1Event,
  V1DaemonSet,
  V1Deployment,
  V1Job,
  V1Lease,
  V1Node,
  V1StatefulSet,
} from '@kubernetes/client-node';
import type { Plain } from '../../../machines/protocol/api-types.ts';

/** API objects as plain JSON, as far as tests read them. */
export type Node = Plain<V1Node>;
export type Deployment = Plain<V1Deployment>;
export type Job = Plain<V1Job>;
export type StatefulSet = Plain<V1StatefulSet>;
export type DaemonSet = Plain<V1DaemonSet>;
export type Lease = Plain<V1Lease>;
export type Event = Plain<CoreV1Event>;
export type { Pod } from '../../../machines/protocol/api-types.ts';

/** A manifest as a test writes it. */
export type Manifest = Readonly<Record<string, unknown>> & { kind: string; metadata: { name: string } };
