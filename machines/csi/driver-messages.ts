import type { DriverNodeInfo } from './node-drivers.ts';

/** What the keeper of CSI drivers is told. `turn`: of which registration or leave it is the outcome; `at`: ms since the epoch. */
export type DriverMessage =
  /** A driver registered, with the versions of CSI that it speaks. */
  | { type: 'driver.came'; at: number; name: string; endpoint: string; versions: string[] }
  /** Its socket is gone, or another one is in its place. */
  | { type: 'driver.went'; at: number; name: string; endpoint: string }
  /** What it says of its node may be another thing by now. */
  | { type: 'driver.stale'; at: number; name: string }
  /** It answered `NodeGetInfo`. */
  | { type: 'driver.told'; at: number; name: string; turn: number; info: DriverNodeInfo }
  /** The object that the order was about is right: the node's or the CSINode. */
  | { type: 'driver.written'; at: number; name: string; turn: number }
  /** What was ordered failed. */
  | { type: 'driver.failed'; at: number; name: string; turn: number; problem: string }
  /** The pause after that is over. */
  | { type: 'driver.due'; at: number; name: string; turn: number };

/** What follows, to be carried out in this order; of one driver one after the other. */
export type DriverOrder =
  /** Ask it for its node (`NodeGetInfo`); answer with `driver.told` or `driver.failed`. */
  | { type: 'driver.ask'; name: string; turn: number; endpoint: string }
  /** Write its labels and its id into the node's object. */
  | { type: 'node.mark'; name: string; turn: number; info: DriverNodeInfo }
  /** Write it into the CSINode. */
  | { type: 'csiNode.list'; name: string; turn: number; info: DriverNodeInfo }
  /** Take it out of the CSINode. */
  | { type: 'csiNode.unlist'; name: string; turn: number }
  /** Take its id out of the node's object. */
  | { type: 'node.unmark'; name: string; turn: number }
  /** Send `driver.due` after so many ms. */
  | { type: 'driver.wait'; name: string; turn: number; ms: number }
  /** It can be used, and who registered it is told. */
  | { type: 'driver.taken'; name: string; turn: number }
  /** It cannot be used. */
  | { type: 'driver.refused'; name: string; turn: number; problem: string }
  /** What was written of it could not be taken away. */
  | { type: 'driver.left'; name: string; turn: number; problem: string };
