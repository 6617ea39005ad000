import type { ResourceHints } from '../resource-managers/topology/hints.ts';
import type { Alignment, Device, AllocateResponse, DeviceStep, PluginOptions, PodGrants } from './device-state.ts';

/** What the device manager is told. `at`: ms since the epoch; `steady`: ms of a clock that nobody sets. */
export type DeviceMessage =
  /** Pods that need a plugin which was there before wait for it. It comes first, when it comes. */
  | { type: 'patience.set'; at: number; steady: number; ms: number }
  /** What an earlier agent left: who has which devices, and the names of resources that were registered. */
  | { type: 'checkpoint.found'; at: number; steady: number; grants: Record<string, PodGrants>; registered: string[] }
  /** A plugin has registered and can be called. */
  | { type: 'plugin.came'; at: number; resource: string; options: PluginOptions }
  /** It told all its devices (`ListAndWatch`). */
  | { type: 'plugin.told'; at: number; resource: string; devices: Record<string, Device> }
  /** Its connection is lost, or it was told to go. */
  | { type: 'plugin.went'; at: number; steady: number; resource: string }
  /** Plugins that went may have been away for too long. */
  | { type: 'plugins.due'; at: number; steady: number }
  /**
   * A pod is to be given its devices, container by container in the order of its start. `active`: all pods that may hold some, null
   * while not all sources have spoken; `running`: its containers that run already under an agent that was just started, and init containers before them.
   */
  | {
      type: 'pod.asks';
      at: number;
      uid: string;
      steps: DeviceStep[];
      active: string[] | null;
      running: string[];
      alignment?: Alignment;
      /** ms of a clock that nobody sets; absent where pods do not wait for plugins. */
      steady?: number;
    }
  /** NUMA nodes that the topology manager wants for the container or pod that it was asked for; null: any. */
  | { type: 'affinity.told'; at: number; nodes: number | null }
  /** It has none for it. */
  | { type: 'affinity.refused'; at: number; message: string }
  /** What the plugin would like for the step at hand. */
  | { type: 'plugin.prefers'; at: number; ids: string[] }
  /** It has made the devices ready; null: its answer names no container. */
  | { type: 'plugin.gave'; at: number; response: AllocateResponse | null }
  /** Its call failed. `call` is the method's name. */
  | { type: 'plugin.failed'; at: number; call: 'GetPreferredAllocation' | 'Allocate'; message: string }
  /** The pod is gone, or was refused for another reason: what it has is free. */
  | { type: 'pod.gone'; at: number; uid: string };

/** What follows, to be carried out in this order. */
export type DeviceOrder =
  /** Ask the topology manager; '' is the pod as a whole. Answer with `affinity.told` or `affinity.refused`. */
  | { type: 'affinity.ask'; uid: string; container: string; hints: ResourceHints }
  /** Ask the plugin which devices it would like; answer with `plugin.prefers` or `plugin.failed`. */
  | { type: 'plugin.prefer'; resource: string; available: string[]; mustInclude: string[]; size: number }
  /** Have it make these ready; answer with `plugin.gave` or `plugin.failed`. */
  | { type: 'plugin.allocate'; resource: string; ids: string[] }
  /** Its plugin was there before, and is not yet: it is to ask again when it is, or at `until`, ms of a clock that nobody sets. */
  | { type: 'pod.waits'; uid: string; resource: string; until: number }
  /** The pod has all devices that it asks for. */
  | { type: 'pod.granted'; uid: string }
  /** It cannot have them. */
  | { type: 'pod.refused'; uid: string; message: string }
  | { type: 'checkpoint.write' }
  /** What the node has of devices is another number. */
  | { type: 'capacity.changed' };
