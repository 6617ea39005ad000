import type { Logger } from 'pino';
import type { ObjectContent } from '../../../machines/protocol/ask.ts';

/** What disks of storage networks are found, signed in to and let go with. */
export interface ScsiGround {
  readonly rootDir: string;
  /**
   * Does somebody else have to say first that the volume may be used here (`enableControllerAttachDetach`)? Nothing is done to attach one, neither by
   * the controller nor by kubelet.
   */
  readonly attachable: boolean;
  /** Rejects where there is none, or no API server. */
  readonly secret: (namespace: string, name: string) => Promise<ObjectContent>;
  readonly log: Logger;
  readonly machine: ScsiMachine;
}

/** Where the machine has its disks, and what speaks for it. */
export interface ScsiMachine {
  /** `/dev`. */
  readonly dev: string;
  /** `/sys`. */
  readonly sys: string;
  readonly iscsiadm: string;
  readonly multipath: string;
  readonly blockdev: string;
  /** Pause between two looks at a device that is to come, ms. */
  readonly lookMs: number;
  /** Pause between two tries to let go of a device that was in use just now, ms. */
  readonly letGoMs: number;
}

/** The machine that the agent runs on, with kubelet's pauses. */
export const THIS_MACHINE: ScsiMachine = {
  ...{ dev: '/dev', sys: '/sys', iscsiadm: 'iscsiadm', multipath: 'multipath', blockdev: 'blockdev' },
  ...{ lookMs: 1_000, letGoMs: 10_000 },
};
