import type { SimScript } from '../../../cri/sim/script.ts';
import type { PodSpec } from './pod-spec.ts';

/** A time in which something goes wrong: ms since the start, and how long. */
export interface Window {
  from: number;
  for: number;
}

/** Everything that can go wrong; all of it ends before {@link Plan.quietAt}. */
export type Fault =
  /** Calls of the runtime. `lost`: done, but the answer is an error. `twice`: carried out a second time, later. */
  | (Window & { kind: 'cri'; how: 'fail' | 'hang' | 'lost' | 'twice' | 'slow'; rpcs: string[]; chance: number })
  | (Window & { kind: 'runtime-restart'; keepContainers: boolean })
  | (Window & { kind: 'not-ready'; condition: 'RuntimeReady' | 'NetworkReady' })
  | (Window & { kind: 'events'; how: 'off' | 'lost' | 'late' })
  /** What PLEG saw reaches the supervisor late, twice or after newer sights. */
  | (Window & { kind: 'looks'; how: 'late' | 'twice' | 'reordered'; chance: number })
  | (Window & { kind: 'api'; how: 'down' | 'fail' | 'hang' | 'lost' | 'twice' | 'slow'; chance: number })
  | (Window & { kind: 'stale-list' })
  | (Window & { kind: 'watch-late' })
  | { kind: 'watch'; from: number; how: 'cut' | 'expired' | 'end' }
  | (Window & { kind: 'host'; how: 'fail' | 'lost' | 'slow'; code: string; chance: number; effects: string[] })
  | (Window & { kind: 'journal-full' })
  | (Window & { kind: 'agent-crash'; torn: boolean; journalLost: boolean })
  /** The agent is ended as it ends itself, and started again. */
  | (Window & { kind: 'agent-stop' })
  | { kind: 'worker-crash'; from: number; shard: number }
  /** The agent ends right after it has written that it would carry out such an effect, before it does, or right after. */
  | (Window & { kind: 'crash-at-effect'; effect: string; count: number; done: boolean })
  | { kind: 'clock'; from: number; by: number }
  /** The machine is about to go down, and then it is called off, or it comes up again (`reboot`). */
  | (Window & { kind: 'shutdown'; reboot: boolean })
  /** logind is away, refuses the lock, or refuses to wait longer; `drops`: a lock that is held is lost. */
  | (Window & { kind: 'logind'; how: 'away' | 'refuses' | 'short' | 'drops' })
  /** What is told of usage is some seconds old, cannot be had, or is wrong (a pod missing, a figure missing or senseless). */
  | (Window & { kind: 'stats'; how: 'old' | 'fail' | 'lie'; chance: number })
  /** What a container took of memory and process ids is given back some seconds after its end. */
  | (Window & { kind: 'late-free' })
  /** Images that nobody uses come: so many, of so many MiB each. */
  | { kind: 'litter'; from: number; images: number; mib: number }
  /**
   * A device plugin or a driver, by the name of its resource or its own. `death`: the agent dies of a call to it; `wipe`: what a driver had
   * made ready is gone, as after a boot.
   */
  | (Window & {
      kind: 'plugin';
      how: 'away' | 'hang' | 'fail' | 'lost' | 'slow' | 'fewer' | 'sick' | 'twice' | 'death' | 'wipe';
      of: string;
    })
  /** Calls of CSI drivers, of one volume or of all. `unsure`: the answer leaves open whether it goes on; `lost`: done, and answered so. */
  | (Window & {
      kind: 'csi';
      how: 'fail' | 'unsure' | 'hang' | 'lost' | 'slow';
      calls: string[];
      chance: number;
      handle?: string;
    })
  /** A driver is gone for a while, and comes back with its socket or with another one. */
  | (Window & { kind: 'csi-driver'; how: 'away' | 'moves'; driver: string })
  /** Attachments come late, or are told to have failed. */
  | (Window & { kind: 'attach'; how: 'late' | 'fail' })
  /** The machine goes down untold, as when its power fails, and comes up again. */
  | { kind: 'power'; from: number }
  /** The node runs short, and pods have to go. `brief`: it is over when it was seen once; `slight`: only a soft threshold is met. */
  | (Window & { kind: 'pressure'; what: 'memory' | 'disk' | 'pids'; brief?: boolean; slight?: boolean });

/** When a probe of a container says no, ms since the start; `for` null = for ever. */
export interface BadTime {
  from: number;
  for: number | null;
}

/** How a container behaves, whatever the agent does. */
export interface Fate {
  attempts: NonNullable<NonNullable<SimScript['containers']>[number]['attempts']>;
  onStop: NonNullable<NonNullable<SimScript['containers']>[number]['onStop']>;
  /** By probe kind: `liveness`, `readiness`, `startup`; and `postStart`. */
  bad: Record<string, BadTime[]>;
}

/** What a container takes more and more of, from a while after its start until its end. */
export interface Leak {
  container: string;
  /** Memory, process ids; bytes or files of the pod's emptyDir; its log; its writable layer. */
  what: 'memory' | 'pids' | 'volume' | 'files' | 'log' | 'layer';
  /** Ms since the container's start. */
  after: number;
  /** MiB (or a count) a second; null: all at once. */
  rate: number | null;
  /** Where it ends: MiB, or a count. */
  most: number;
}

/** One pod of the workload. */
export interface PodPlan {
  key: string;
  /** When it is created, ms since the start. */
  at: number;
  source: 'api' | 'file';
  namespace: string;
  name: string;
  spec: PodSpec;
  /** Of a static pod whose manifest names one: what changes in its file changes this pod, and makes no other. */
  uid?: string;
  finalizers?: string[];
  fates: Record<string, Fate>;
  leaks?: Leak[];
  /** As the API server says it; BestEffort unless all of its containers have limits. */
  qos?: 'Guaranteed' | 'Burstable';
}

/** A CSI driver of the node. */
export interface CsiDriverPlan {
  name: string;
  /** Its volumes are attached first; staged first; published again from time to time. */
  attaches: boolean;
  stages: boolean;
  republishes: boolean;
  /** It can mount with a label for all files. */
  labels?: boolean;
}

/** A claim with the volume behind it. */
export interface ClaimPlan {
  name: string;
  driver: string;
  mode: 'ReadWriteOnce' | 'ReadWriteOncePod' | 'ReadWriteMany';
  block: boolean;
  /** When it is bound, and when it grows, ms since the start. */
  boundAt: number;
  growsAt?: number;
}

/** What people and controllers do with pods, and what befalls containers by themselves. */
export type Change =
  | { at: number; do: 'delete'; pod: string; grace: number | null }
  | { at: number; do: 'image'; pod: string; container: string; image: string }
  | { at: number; do: 'label'; pod: string }
  /** What its volumes show has changed. */
  | { at: number; do: 'refresh'; pod: string }
  | { at: number; do: 'deadline'; pod: string; seconds: number }
  /** A static pod's file is put back after it was removed. */
  | { at: number; do: 'restore'; pod: string }
  | { at: number; do: 'kill'; pod: string; container: string; code: number; reason: string }
  | { at: number; do: 'kill-sandbox'; pod: string }
  /** Somebody removes the newest sandbox with all that is in it behind the agent's back (`crictl rmp -f`). */
  | { at: number; do: 'remove-sandbox'; pod: string }
  /** Another cpu request, of a container that has one (in-place resize). */
  | { at: number; do: 'resize'; pod: string; container: string; cpu: string }
  /** The volume `data` of a static pod that keeps its UID becomes one that no node can set up, or what it was. */
  | { at: number; do: 'volume'; pod: string; odd: boolean };

/** All that a run is made of, besides the seed's draws of small times. */
export interface Plan {
  seed: number;
  /** Faults and changes have ended by then, ms since the start. */
  quietAt: number;
  endAt: number;
  node: {
    shards: number;
    evented: boolean;
    syncFrequencyMs: number;
    serializePulls: boolean;
    /** It works without an API server: static pods only. */
    standalone?: boolean;
    /** It gives CPUs and memory of its NUMA nodes away (static policies). */
    managers?: boolean;
    /** How its disks lie; with it inodes, soft limits of the disk, and all pods' memory count for eviction. */
    disks?: 'one' | 'images' | 'split';
    /** SELinux is on: ReadWriteOncePod volumes of drivers that can do so are mounted with labels, or those of all access modes. */
    labels?: 'alone' | 'all';
    /** More CPUs are asked for than it has: pods are refused, or go for critical ones. */
    full?: boolean;
    /** There are device plugins and drivers of dynamic resources. */
    plugins?: boolean;
    /** Its device plugins are called before each container that has a device of theirs starts. */
    preStart?: boolean;
    /** Pods wait so long for a device plugin that was there before, ms; absent: they do not. */
    waitForPluginsMs?: number;
  };
  pods: PodPlan[];
  changes: Change[];
  faults: Fault[];
  /** Of a node with CSI drivers. */
  drivers?: CsiDriverPlan[];
  claims?: ClaimPlan[];
}
