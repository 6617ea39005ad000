import type { ToldHealth } from './claim-health.ts';
import type { ClaimDevice, ClaimState, KnownClaim } from './claim-state.ts';

/** A ResourceClaim as the API server has it, as far as pods are judged by it; or why it could not be had. */
export type FetchedClaim =
  | { problem: string }
  | {
      name: string;
      uid: string;
      /** It was made for one pod, which must be its controller. */
      ofPod: boolean;
      /** UID of its controller. */
      controller: string | null;
      /** UIDs of who may use it. */
      reservedFor: string[];
      /** Drivers of the devices that were allocated; null: it is not allocated. */
      drivers: string[] | null;
    };

/** A driver's answer for one claim. */
export interface ClaimResult {
  uid: string;
  /** '' when it went well. */
  error: string;
  devices: ClaimDevice[];
}

/** What the claims manager is told. `at`: ms since the epoch; `steady`: ms of a clock that nobody sets. */
export type ClaimMessage =
  /** What an earlier agent, or a kubelet, left; it comes first. */
  | { type: 'checkpoint.found'; at: number; claims: KnownClaim[] }
  /** A plugin of a driver registered, was connected, lost its connection, or is gone. */
  | { type: 'driver.told'; at: number; steady: number; driver: string; registered: boolean; connected: boolean }
  /** What an earlier agent, or a kubelet, heard of devices' health. */
  | { type: 'health.found'; at: number; health: NonNullable<ClaimState['health']> }
  /** A driver told how its devices are. */
  | { type: 'health.told'; at: number; steady: number; driver: string; devices: ToldHealth[] }
  /** No plugin of the driver tells so any more. */
  | { type: 'health.lost'; at: number; driver: string }
  /** What was told may be too old. */
  | { type: 'health.due'; at: number; steady: number }
  /** Slices of drivers that are away may be due. */
  | { type: 'wipes.due'; at: number; steady: number }
  /** A pod's claims are to be prepared, before its first container starts. `claims`: in the order of its spec. */
  | { type: 'pod.prepares'; at: number; uid: string; name: string; namespace: string; claims: FetchedClaim[] }
  /** A pod's containers have ended, or it is gone: nothing of it uses its claims any more. */
  | { type: 'pod.unprepares'; at: number; uid: string }
  /** All pods that may use claims; what belongs to others is unprepared. */
  | { type: 'pods.active'; at: number; uids: string[] }
  /** The driver that was asked has answered. */
  | { type: 'driver.answered'; at: number; work: number; results: ClaimResult[] }
  /** It has not, or what had to be on disk before it is asked is not. `message`: as it is to be told. */
  | { type: 'work.broke'; at: number; work: number; message: string };

/** A claim as drivers are asked for it. */
export interface AskedClaim {
  namespace: string;
  uid: string;
  name: string;
}

/** What follows, to be carried out in this order. `work` names the piece of work that it is a part of. */
export type ClaimOrder =
  /** Write down which claims there are. What follows for this work waits until it is on disk. */
  | { type: 'checkpoint.write'; work: number }
  /** `NodePrepareResources`, `NodeUnprepareResources`; answer with `driver.answered` or `work.broke`. */
  | { type: 'driver.prepare' | 'driver.unprepare'; work: number; driver: string; claims: AskedClaim[] }
  | { type: 'work.done'; work: number; pod: string }
  /** `message` is kubelet's, without what it says of the call as a whole. */
  | { type: 'work.failed'; work: number; pod: string; message: string }
  /** Write down what was told of devices' health. */
  | { type: 'health.write' }
  /** Remove this driver's ResourceSlices of the node. */
  | { type: 'slices.wipe'; driver: string };
