import type { Pod } from '../../machines/protocol/api-types.ts';
import type { Affinities } from '../../machines/resource-managers/admit-resources.ts';
import { messageOf } from '../../machines/values/message-of.ts';
import { unexpected } from '../resources/admission/verdict.ts';
import type { Refusal } from '../resources/admission/verdict.ts';
import type { DeviceManager } from '../resources/devices/device-manager.ts';
import type { GrantAnswer } from '../resources/devices/grant-devices.ts';

/** What plugins gave a pod, why they did not, or that it waits for one. */
export interface Equipment {
  refusal: Refusal | null;
  affinities?: Affinities;
  waits?: NonNullable<GrantAnswer['waits']>;
}

/** What {@link PodEquipment} works with. */
export interface PodEquipmentOptions {
  /** Who gives pods devices of plugins; null or absent where none can come. */
  devices?: Pick<DeviceManager, 'wants' | 'grant' | 'floor'> | null;
  /** Why one of the node's managers does not take a pod; null when all do. Absent: there are none. */
  refuses?: (pod: Pod) => { reason: string; message: string } | null;
}

/** What new pods have of plugins' devices before they are judged (kubelet: the device manager's Allocate, as a hint provider of admission). */
export class PodEquipment {
  private readonly options: PodEquipmentOptions;
  private readonly known = new WeakMap<Pod, Equipment>();

  constructor(options: PodEquipmentOptions) {
    this.options = options;
  }

  /** Plugins have to give the pod devices, and were not asked yet. */
  lacks(pod: Pod): boolean {
    return !this.known.has(pod) && this.options.devices?.wants(pod) === true;
  }

  /** Asks plugins for the pod's devices, unless it is refused anyhow. Never rejects. @param early it came before all sources had spoken */
  async give(pod: Pod, early: boolean | undefined): Promise<void> {
    const answer = await this.answerOf(pod, early).catch((error: unknown) => ({ problem: messageOf(error) }));
    this.known.set(pod, equipmentOf(answer));
  }

  private async answerOf(pod: Pod, early: boolean | undefined): Promise<Partial<GrantAnswer>> {
    const { devices, refuses } = this.options;
    const isRefused = (refuses?.(pod) ?? null) !== null;
    return (isRefused ? undefined : await devices?.grant(pod, undefined, early)) ?? {};
  }

  /** Plugins are asked anew. */
  forget(pod: Pod): void {
    this.known.delete(pod);
  }

  /** Undefined for a pod that plugins were not asked for. */
  of(pod: Pod): Equipment | undefined {
    return this.known.get(pod);
  }

  /** Which plugin the pod waits for, before it is judged; undefined when for none. */
  waitOf(pod: Pod): Equipment['waits'] {
    return this.known.get(pod)?.waits;
  }

  /** Devices that pods have already, this one among them; null where plugins are none. */
  floor(pod: Pod): Record<string, number> | null {
    return this.options.devices?.floor(pod.metadata?.uid ?? '') ?? null;
  }
}

function equipmentOf({ problem, reason, waits, affinities = {} }: Partial<GrantAnswer>): Equipment {
  if (waits !== undefined) return { refusal: null, waits };
  if (problem && reason !== undefined) return { refusal: { reason, message: problem, retryWithFreshNode: false } };
  if (problem) return { refusal: unexpected(new Error(problem)) };
  return { refusal: null, ...(Object.keys(affinities).length > 0 && { affinities }) };
}
