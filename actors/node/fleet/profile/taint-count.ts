import { anyMatches } from '../../../../cri/sim/glob.ts';
import { MOST_TAINTS, taintText } from './device-taint-schema.ts';
import type { DriverRule } from './driver-schema.ts';
import type { FailureRule } from './failure-schema.ts';

/** Devices that may come to have more taints at once than the API server takes: it would refuse the whole slice. */
export function* tooManyTaints(
  groups: readonly { drivers: readonly DriverRule[] }[],
  failures: readonly FailureRule[],
): Generator<{ path: (string | number)[]; message: string }> {
  for (const [g, { drivers }] of groups.entries())
    for (const [d, { driver, devices, taintsUnhealthy }] of drivers.entries()) {
      const struck = failures.flatMap(({ taint, driver: globs }) =>
        taint !== undefined && anyMatches(globs, driver) ? [taintText(taint)] : [],
      );
      const more = new Set(struck).size + (taintsUnhealthy === undefined ? 0 : 1);
      for (const [i, { taints }] of devices.entries())
        if (taints.length + more > MOST_TAINTS)
          yield {
            path: ['groups', g, 'drivers', d, 'devices', i, 'taints'],
            message: `must be at most ${MOST_TAINTS} together with \`taintsUnhealthy\` and those of \`failures\``,
          };
    }
}
