import type { Pod } from '../../machines/protocol/api-types.ts';
import type { NodeAdmission } from '../resources/admission/node-admission.ts';
import { unexpected } from '../resources/admission/verdict.ts';
import type { Refusal } from '../resources/admission/verdict.ts';
import type { PodEquipment, PodEquipmentOptions } from './pod-equipment.ts';

/** Who is asked whether the node takes a pod. */
export interface PodJudgeOptions extends Pick<PodEquipmentOptions, 'refuses'> {
  admission: NodeAdmission;
}

/**
 * Does the node take a pod, with what plugins gave it? The node's managers are asked first, then admission (kubelet: canAdmitPod). A pod whose judging throws is
 * refused, and keeps no other waiting.
 */
export class PodJudge {
  private readonly options: PodJudgeOptions;
  private readonly equipment: PodEquipment;

  constructor(options: PodJudgeOptions, equipment: PodEquipment) {
    this.options = options;
    this.equipment = equipment;
  }

  /** Null when the node takes the pod, which is counted from now on. */
  judge(pod: Pod): Refusal | null {
    return judged(() => this.verdictOf(pod));
  }

  /** Once more when others have gone for it. */
  judgeAfterRoom(pod: Pod): Refusal | null {
    return judged(() => this.options.admission.admitAfterRoom(pod, this.equipment.of(pod)?.affinities));
  }

  /** Once more, with the node of this moment, those of whom only its labels were in the way. Changes the refusals in their place. */
  async judgeAgain(unsure: readonly [Pod, Refusal][], refused: Map<Pod, Refusal>): Promise<void> {
    const { admission } = this.options;
    for (const [pod, refusal] of unsure) {
      const { affinities } = this.equipment.of(pod) ?? {};
      const floor = this.equipment.floor(pod);
      const verdict = await admission.admitAfterAll(pod, refusal, floor, affinities).catch(unexpected);
      if (verdict === null) refused.delete(pod);
      else refused.set(pod, verdict);
    }
  }

  private verdictOf(pod: Pod): Refusal | null {
    const { admission, refuses } = this.options;
    const refusal = refuses?.(pod) ?? null;
    if (refusal !== null) return { ...refusal, retryWithFreshNode: false };
    const { refusal: unequipped = null, affinities } = this.equipment.of(pod) ?? {};
    if (unequipped === null) return admission.admit(pod, this.equipment.floor(pod), affinities);
    admission.resources.countUnequipped(unequipped.reason);
    return unequipped;
  }
}

function judged(judge: () => Refusal | null): Refusal | null {
  try {
    return judge();
  } catch (error) {
    return unexpected(error);
  }
}
