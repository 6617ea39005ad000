import { join } from 'node:path';
import type { Logger } from 'pino';
import type { AdmissionOrder } from '../../../machines/admission/admission-messages.ts';
import type { AdmissionState } from '../../../machines/admission/admission-state.ts';
import type { AllocationEntries } from '../../../machines/resize/checkpoint.ts';
import { uidEntries } from '../../../machines/supervisor/uid-table.ts';
import { AllocationFile } from './allocation-file.ts';

/** Kubelet's two checkpoints of what pods have: what was set aside for them, and what was last written for their containers. */
export class AllocationFiles {
  private readonly files: { allocated: AllocationFile; actuated: AllocationFile };

  /** @param state what is to stand in them whenever they are written */
  constructor(rootDir: string, log: Logger, state: () => AdmissionState) {
    const table = (...names: ('before' | 'actuatedBefore' | 'actuated')[]) =>
      Object.fromEntries(names.flatMap((name) => uidEntries(state()[name])));
    this.files = {
      allocated: new AllocationFile(join(rootDir, 'allocated_pods_state'), log, () => ({
        ...table('before'),
        ...Object.fromEntries(uidEntries(state().pods).map(([uid, { allocation }]) => [uid, allocation])),
      })),
      actuated: new AllocationFile(join(rootDir, 'actuated_pods_state'), log, () =>
        table('actuatedBefore', 'actuated'),
      ),
    };
  }

  /** What an earlier agent left; null when it left nothing. */
  found(): { allocated: AllocationEntries; actuated: AllocationEntries } | null {
    const [allocated, actuated] = [this.files.allocated.read(), this.files.actuated.read()];
    return Object.keys(allocated).length + Object.keys(actuated).length > 0 ? { allocated, actuated } : null;
  }

  write({ which, when }: Extract<AdmissionOrder, { type: 'checkpoint.write' }>): void {
    this.files[which][when]();
  }

  /** Writes what still waits. */
  close(): void {
    this.files.allocated.close();
    this.files.actuated.close();
  }
}
