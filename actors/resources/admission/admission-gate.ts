import { existsSync, readFileSync } from 'node:fs';
import { release } from 'node:os';
import { admitPod } from '../../../machines/admission/admit-pod.ts';
import { NodeUsage } from '../../../machines/admission/node-usage.ts';
import type { Admission } from '../../../machines/admission/rejection.ts';
import type { Node } from '../../../machines/node-object/node-types.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { NodeSettings } from '../../../machines/protocol/node-settings.ts';
import type { KubeletConfiguration } from '../../configure/configuration/kubelet-configuration.ts';
import { goArchitecture } from '../machine/machine-facts.ts';

/** What the gate looks at. */
export interface AdmissionGateOptions {
  config: Pick<KubeletConfiguration, 'allowedUnsafeSysctls' | 'maxPods' | 'podsPerCore'>;
  settings: NodeSettings;
  /** The own Node as the watch last told it. */
  node: () => Node | null;
  /** The own Node as the API server has it this moment; null when it cannot be asked. */
  freshNode: () => Promise<Node | null>;
}

/** Why the node does not take a pod. */
export interface Refusal {
  reason: string;
  message: string;
  /** Only the node's labels are in the way: {@link AdmissionGate.admitAfterAll} decides. */
  retryWithFreshNode: boolean;
}

/** Null: the node takes the pod. */
export type Verdict = Refusal | null;

/** Decides on each pod that arrives, and counts what the admitted ones hold until they have ended. */
export class AdmissionGate {
  private readonly options: AdmissionGateOptions;
  private readonly usage = new NodeUsage();
  private readonly kernelVersion = release();
  private readonly appArmorEnabled = appArmorIsOn();

  constructor(options: AdmissionGateOptions) {
    this.options = options;
  }

  /** Null when the node takes the pod, which is counted from now on; else why not. */
  admit(pod: Pod): Verdict {
    return this.judge(pod, this.options.node());
  }

  /** Once more with the node of this moment: the scheduler may have seen a label that has not come by watch yet. */
  async admitAfterAll(pod: Pod, refused: Refusal): Promise<Verdict> {
    const node = await this.options.freshNode();
    return node === null ? refused : this.judge(pod, node);
  }

  /** Would the node take the pod as it stands here, beside all others? Nothing is counted (a resize in place). */
  fits(pod: Pod): Admission {
    return this.ask(pod, this.options.node());
  }

  /** The pod is counted by what it holds now. */
  recount(pod: Pod): void {
    if (this.usage.counts(pod.metadata?.uid ?? '')) this.usage.addPod(pod);
  }

  private judge(pod: Pod, node: Node | null): Verdict {
    const verdict = this.ask(pod, node);
    if (!verdict.admit) {
      const { reason, message, retryWithFreshNode = false } = verdict;
      return { reason, message, retryWithFreshNode };
    }
    this.usage.addPod(pod);
    return null;
  }

  private ask(pod: Pod, node: Node | null): Admission {
    const { config, settings } = this.options;
    const cores = settings.capacity.cpuMilli / 1000;
    return admitPod({
      pod,
      node,
      usage: this.usage,
      settings,
      maxPods: config.podsPerCore > 0 ? Math.min(config.maxPods, cores * config.podsPerCore) : config.maxPods,
      os: 'linux',
      arch: goArchitecture(process.arch),
      allowedUnsafeSysctls: config.allowedUnsafeSysctls,
      kernelVersion: this.kernelVersion,
      appArmorEnabled: this.appArmorEnabled,
    });
  }

  /** The pod has ended or is gone: what it held is free. */
  forget(uid: string): void {
    this.usage.removePod(uid);
  }
}

function appArmorIsOn(): boolean {
  const file = '/sys/module/apparmor/parameters/enabled';
  return existsSync('/sys/kernel/security/apparmor') && existsSync(file) && readFileSync(file, 'utf8').trim() === 'Y';
}
