import { probesOf } from '../pod/children.ts';
import { cgroupSettings } from '../pod/cpu-grants.ts';
import type { SpecContainer } from '../pod/spec.ts';
import { quotaToMilli } from '../qos/cpu-shares.ts';
import { podCgroup } from '../qos/pod-cgroup.ts';
import { amountsOf, milli } from '../qos/resource-amounts.ts';
import { span } from '../values/spoken-time.ts';
import type { Cause } from './explanation.ts';
import { hasFailed } from './probe-reasons.ts';
import { containerState, failureOf, machineSince } from './view.ts';
import type { View } from './view.ts';

/** Below so much of a CPU a start is felt to be slow: the runtime's part of it alone takes a twentieth of a second of CPU. */
const TIGHT_MILLI = 100;
/** Waits that are shorter need no such reason, ms. */
const LONG_MS = 2000;
/** A piece of work as an example, ms. */
const WORK_MS = 100;

/**
 * A small CPU limit holds up more than the container's own program: what the runtime starts in the cgroup (its init of the sandbox and of
 * containers, hooks and probes that are commands) has the same quota, and times out by it. Told where such a thing is being waited for.
 */
export function quotaCauses(view: View): Cause[] {
  const { context, history, now, specs } = view;
  const { settings, focus } = context;
  if (!settings.cpuCFSQuota || context.finished) return [];
  const { cpuQuotaUs = 0, cpuPeriodUs = 0 } = podCgroup(context.pod, cgroupSettings(context));
  const ofPod = quotaToMilli(cpuQuotaUs, cpuPeriodUs) || Infinity;
  if (focus === 'syncing.creatingSandbox' && now - history.state.at >= LONG_MS) return tight('the pod', ofPod);
  return specs.flatMap((spec) => {
    const { container } = spec;
    if (!isHeldUp(view, spec)) return [];
    const own = milli(amountsOf(container.resources?.limits)['cpu']) || Infinity;
    return tight(container.name, Math.min(own, ofPod));
  });
}

function tight(whose: string, limit: number): Cause[] {
  if (limit >= TIGHT_MILLI) return [];
  const long = span((WORK_MS * 1000) / limit);
  const text = `${whose} may use ${limit}m of a CPU (limits.cpu), and so may what the runtime starts in its cgroup: ${span(WORK_MS)} of work takes ${long}`;
  return [{ at: 0, text, kind: 'config' }];
}

/** The runtime starts something in the container's cgroup, and that takes long or has failed. */
function isHeldUp(view: View, spec: SpecContainer): boolean {
  const { name, lifecycle } = spec.container;
  const isLong = view.now - machineSince(view, name) >= LONG_MS;
  switch (containerState(view, name)) {
    case 'starting.started':
      return isLong;
    case 'starting.postStart':
      return isLong && lifecycle?.postStart?.exec !== undefined;
    case 'stopping.preStop':
      return isLong && lifecycle?.preStop?.exec !== undefined;
    case 'retrying':
    case 'inDoubt':
      return failureOf(view, `container/${name}/cri.StartContainer`) !== undefined;
    case 'running':
      return probesOf(spec).some(({ key, probe }) => probe.exec !== undefined && hasFailed({ view, key }));
    default:
      return false;
  }
}
