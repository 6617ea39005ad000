import { atUid, withUid } from '../supervisor/uid-table.ts';
import type { AdmissionOrder, Checkpoint } from './admission-messages.ts';
import type { AdmissionState, AllocatedPod, RetryTrigger } from './admission-state.ts';
import type { ResourceManager } from './resource-manager.ts';

/** One step on its way: the state so far, and what follows. The state that it began with stays as it was. */
export class AdmissionTurn {
  readonly at: number;
  readonly managers: readonly ResourceManager[];
  readonly orders: AdmissionOrder[] = [];
  state: AdmissionState;

  constructor(state: AdmissionState, at: number, managers: readonly ResourceManager[]) {
    this.state = state;
    this.at = at;
    this.managers = managers;
  }

  change(part: Partial<AdmissionState>): void {
    this.state = { ...this.state, ...part };
  }

  /** What is set aside for the pod; undefined when it is not known. */
  pod(uid: string): AllocatedPod | undefined {
    return atUid(this.state.pods, uid);
  }

  /** Puts other values into a known pod's place. */
  changePod(uid: string, part: Partial<AllocatedPod>): void {
    const known = this.pod(uid);
    if (known !== undefined) this.change({ pods: withUid(this.state.pods, uid, { ...known, ...part }) });
  }

  order(order: AdmissionOrder): void {
    this.orders.push(order);
  }

  /** A checkpoint is to be written, once for each step: `now` counts from the first time on. */
  write(which: Checkpoint, when: 'now' | 'soon'): void {
    const same = (order: AdmissionOrder) =>
      order.type === 'checkpoint.write' && order.which === which && (order.when === 'now' || when === 'soon');
    if (!this.orders.some(same)) this.order({ type: 'checkpoint.write', which, when });
  }

  /** Has waiting resizes tried after the message at hand: who frees resources is told of before who gets them. */
  retrySoon(trigger: RetryTrigger): void {
    const { waiting, soon } = this.state;
    if (waiting.length === 0 || soon !== null) return;
    this.change({ soon: trigger });
    this.order({ type: 'retry.soon', trigger });
  }

  stopWaiting(uid: string): void {
    const { waiting } = this.state;
    if (waiting.includes(uid)) this.change({ waiting: waiting.filter((other) => other !== uid) });
  }
}
