import { labelText } from '../../record/metrics/text-format.ts';
import type { TextWriter } from '../../record/metrics/text-format.ts';
import type { MachineInfo } from '../../resources/cgroup-stats/machine-info.ts';

/** `cadvisor_version_info`: kubelet builds cAdvisor without its version, so those labels are empty. */
export function writeVersionInfo(writer: TextWriter, info: MachineInfo): void {
  const name = 'cadvisor_version_info';
  const help =
    "A metric with a constant '1' value labeled by kernel version, OS version, docker version, cadvisor version & cadvisor revision.";
  writer.family(name, help, 'gauge');
  const { kernelVersion, osVersion } = info;
  writer.sample(name, { cadvisorRevision: '', cadvisorVersion: '', dockerVersion: '', kernelVersion, osVersion }, 1);
}

/** Families `machine_*`, sorted by name; cAdvisor writes no times here. */
export function writeMachineFamilies(writer: TextWriter, info: MachineInfo): void {
  const ids = labelText({ boot_id: info.bootId, machine_id: info.machineId });
  const uuid = labelText({ system_uuid: info.systemUuid });
  const one = (name: string, help: string, value: number) => {
    writer.family(name, help, 'gauge');
    writer.line(name, `${ids},${uuid}`, value);
  };
  one('machine_cpu_cores', 'Number of logical CPU cores.', info.logicalCores);
  one('machine_cpu_physical_cores', 'Number of physical CPU cores.', info.physicalCores);
  one('machine_cpu_sockets', 'Number of CPU sockets.', info.sockets);
  const types = Object.entries(info.memoryByType).sort(([a], [b]) => (a < b ? -1 : 1));
  const modules = (name: string, help: string, field: 'modules' | 'bytes') => {
    if (types.length > 0) writer.family(name, help, 'gauge');
    for (const [type, found] of types) writer.line(name, `${ids},${uuid},${labelText({ type })}`, found[field]);
  };
  modules(
    'machine_dimm_capacity_bytes',
    'Total RAM DIMM capacity (all types memory modules) value labeled by dimm type.',
    'bytes',
  );
  modules('machine_dimm_count', 'Number of RAM DIMM (all types memory modules) value labeled by dimm type.', 'modules');
  one('machine_memory_bytes', 'Amount of memory installed on the machine.', info.memoryBytes);
  // as of a kubelet that is built without libipmctl, like all that are released
  one('machine_nvm_avg_power_budget_watts', 'NVM power budget.', 0);
  writer.family(
    'machine_nvm_capacity',
    'NVM capacity value labeled by NVM mode (memory mode or app direct mode).',
    'gauge',
  );
  for (const mode of ['app_direct_mode', 'memory_mode']) {
    writer.line('machine_nvm_capacity', `${ids},mode="${mode}",${uuid}`, 0);
  }
  writer.family('machine_scrape_error', '1 if there was an error while getting machine metrics, 0 otherwise.', 'gauge');
  writer.line('machine_scrape_error', '', 0);
  one('machine_swap_bytes', 'Amount of swap memory available on the machine.', info.swapBytes);
}
