import { findUsualRuntime } from '../../../cri/private-containerd/usual-sockets.ts';
import { checkCgroups } from './check-cgroups.ts';
import { checkDisk } from './check-disk.ts';
import { checkCniConfig, checkForwarding, checkIptables, checkPorts } from './check-network.ts';
import { checkCapabilities, checkKubelet, checkNode, checkRoot, checkSwap } from './check-process.ts';
import { checkOverlay, checkRuntime } from './check-runtime.ts';
import { fail } from './check.ts';
import type { CheckResult, DoctorOptions } from './check.ts';

/** All checks of the machine, in the order in which a reader would cure them. A check that throws is a failed one. */
export async function examineMachine(options: DoctorOptions): Promise<CheckResult[]> {
  const foreignRuntime = options.endpoint !== undefined || (await findUsualRuntime()) !== null;
  const checks: [name: string, run: () => CheckResult | CheckResult[] | Promise<CheckResult | CheckResult[]>][] = [
    ['root', () => checkRoot()],
    ['capabilities', checkCapabilities],
    ['node', () => checkNode()],
    ['cgroups', () => checkCgroups()],
    ['overlayfs', checkOverlay],
    ['runtime', () => checkRuntime(options)],
    ['cni-config', () => checkCniConfig(foreignRuntime)],
    ['ip-forward', checkForwarding],
    ['iptables', checkIptables],
    ['ports', () => checkPorts(options.ports)],
    ['swap', () => checkSwap()],
    ['disk', () => checkDisk(options.rootDir)],
    ['kubelet', checkKubelet],
  ];
  const results = await Promise.all(
    checks.map(async ([name, run]) => {
      try {
        return await run();
      } catch (error) {
        return fail(name, `the check itself failed: ${String(error)}`, 'Run it again as root.');
      }
    }),
  );
  return results.flat();
}

/** One line for each result, columns aligned: `level  name  detail`, and the cure behind an arrow on the next line. */
export function formatResults(results: readonly CheckResult[]): string {
  const width = Math.max(...results.map(({ name }) => name.length));
  return results
    .map(({ level, name, detail, cure }) => {
      const line = `${level.padEnd(4)}  ${name.padEnd(width)}  ${detail}`;
      return cure === undefined ? line : `${line}  -> ${cure}`;
    })
    .join('\n');
}
