import type { Pod } from '../../../../machines/protocol/api-types.ts';
import { isTerminalPhase } from '../../../../machines/status/phase.ts';
import type { ClaimPlan } from '../../draw/plan.ts';
import type { Fact } from '../facts.ts';
import type { FaultClock } from '../fault-clock.ts';
import { NODE_NAME } from '../node-settings.ts';
import type { Owner, VirtualTime } from '../virtual-time.ts';
import { deviceOf, handleOf, pvOf } from './storage-objects.ts';
import type { StorageObjects } from './storage-objects.ts';

/** What the controller is made from. */
export interface AttachControllerOptions {
  time: VirtualTime;
  faults: FaultClock;
  objects: StorageObjects;
  pods: () => Pod[];
  tell: (fact: Fact) => void;
}

/** Pause between two looks while something is to be done, how long an attachment takes, and between the steps of a detachment, ms. */
const LOOK_MS = 1_000;
const ATTACH_MS = 1_500;
const STEP_MS = 300;

/**
 * Kubernetes' attach-detach controller with an external attacher: attaches what pods of the node have by their claims, and takes away what none has
 * and the node's status does not name as in use. The node's status is read again after it was said that a volume goes, as the controller does.
 */
export class AttachController {
  private readonly options: AttachControllerOptions;
  private readonly owner: Owner = { name: 'attach-controller', alive: true };
  /** Claims that something is being done about. */
  private readonly busy = new Set<string>();
  private looking = false;

  constructor(options: AttachControllerOptions) {
    this.options = options;
  }

  /** Something has changed that may call for work. */
  wake(): void {
    if (this.looking) return;
    this.looking = true;
    this.options.time.after(
      LOOK_MS,
      this.owner,
      () => {
        this.looking = false;
        for (const claim of this.options.objects.claims) this.look(claim);
      },
      false,
    );
  }

  private look(claim: ClaimPlan): void {
    const { objects, time, faults } = this.options;
    if (objects.drivers.get(claim.driver)?.attaches !== true || this.busy.has(claim.name)) return;
    const wanted = this.isWanted(claim);
    const name = objects.attachmentOf(claim);
    const there = objects.attachments.get(name);
    if (wanted && time.now < claim.boundAt) return this.wake();
    if (wanted && there === undefined) {
      const volume = { persistentVolumeName: pvOf(claim.name) };
      const spec = { attacher: claim.driver, nodeName: NODE_NAME, source: volume };
      objects.attachments.set(name, { metadata: { name }, spec });
    }
    if (wanted && there?.status?.attached !== true) {
      const fault = faults.strikes('attach');
      if (fault?.how === 'late') return this.wake();
      const made = objects.attachments.get(name);
      if (fault?.how === 'fail' && made !== undefined) {
        made.status = { attached: false, attachError: { message: 'a fault of the simulation' } };
        return this.wake();
      }
      this.later(claim, ATTACH_MS, () => this.attached(claim));
    } else if (!wanted && there !== undefined) this.detach(claim);
  }

  private attached(claim: ClaimPlan): void {
    const { objects, tell, time } = this.options;
    const found = objects.attachments.get(objects.attachmentOf(claim));
    if (found !== undefined) found.status = { attached: true };
    const device = deviceOf(claim);
    const { volumesAttached } = objects.nodeStatus;
    if (!volumesAttached.some(({ name }) => name === device)) volumesAttached.push({ name: device, devicePath: '' });
    time.busy();
    tell({ f: 'attachment', change: 'attached', driver: claim.driver, handle: handleOf(claim.name) });
    this.wake();
  }

  /** Kubernetes' order: the node's status first says that it goes, then it is looked whether the node still uses it. */
  private detach(claim: ClaimPlan): void {
    const { objects, tell, time } = this.options;
    const device = deviceOf(claim);
    const { nodeStatus } = objects;
    if (nodeStatus.volumesInUse.includes(device)) return this.wake();
    nodeStatus.volumesAttached = nodeStatus.volumesAttached.filter(({ name }) => name !== device);
    this.later(claim, STEP_MS, () => {
      if (nodeStatus.volumesInUse.includes(device) || this.isWanted(claim)) {
        const found = objects.attachments.get(objects.attachmentOf(claim));
        if (found?.status?.attached === true) nodeStatus.volumesAttached.push({ name: device, devicePath: '' });
        return this.wake();
      }
      const found = objects.attachments.get(objects.attachmentOf(claim));
      if (found?.metadata !== undefined) (found.metadata as { deletionTimestamp?: string }).deletionTimestamp = 'now';
      this.later(claim, STEP_MS, () => {
        objects.attachments.delete(objects.attachmentOf(claim));
        time.busy();
        tell({ f: 'attachment', change: 'detached', driver: claim.driver, handle: handleOf(claim.name) });
        this.wake();
      });
    });
  }

  private later(claim: ClaimPlan, ms: number, act: () => void): void {
    this.busy.add(claim.name);
    this.options.time.after(
      ms,
      this.owner,
      () => {
        this.busy.delete(claim.name);
        act();
      },
      false,
    );
  }

  /** Pods that have ended want nothing any more, though they are still shown. */
  private isWanted({ name }: ClaimPlan): boolean {
    return this.options
      .pods()
      .some(
        ({ spec, status }) =>
          !isTerminalPhase(status?.phase) &&
          spec?.volumes?.some(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName === name),
      );
  }
}
