import { readMachineInfo } from '../../resources/cgroup-stats/machine-info.ts';
import type { MachineInfo } from '../../resources/cgroup-stats/machine-info.ts';

/** cAdvisor reads the machine's facts anew after this long. */
const MACHINE_INFO_MS = 5 * 60_000;

/** The machine's facts, not older than that. @param now ms since the epoch */
export function keptMachineInfo(now: () => number): () => MachineInfo {
  let machine: MachineInfo | undefined;
  let readAt = 0;
  return () => {
    if (machine === undefined || performance.now() - readAt > MACHINE_INFO_MS) {
      machine = readMachineInfo(now);
      readAt = performance.now();
    }
    return machine;
  };
}
