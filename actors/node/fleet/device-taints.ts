import { rfc3339 } from '../../../machines/values/rfc3339.ts';
import { FailingLots } from './failing-lots.ts';
import { taintText } from './profile/device-taint-schema.ts';
import type { DeviceTaintRule } from './profile/device-taint-schema.ts';
import type { DriverRule } from './profile/driver-schema.ts';

/** A taint of a device as a ResourceSlice tells it. */
export interface SliceTaint extends DeviceTaintRule {
  /** RFC 3339. Who evicts pods counts how long they tolerate it from then on; without it the API server would take each change's time. */
  timeAdded: string;
}

/** What {@link DeviceTaints} is made from. */
export interface DeviceTaintsOptions {
  rule: DriverRule;
  /** The machine's own. */
  seed: number;
  /** The driver's devices. */
  names: readonly string[];
  /** Now, as others in the cluster have it, ms since the epoch. */
  now: () => number;
}

/** Which taints the devices of a driver have: those of the profile, those of failures that hold, and one while they are ill. */
export class DeviceTaints {
  private readonly options: DeviceTaintsOptions;
  private readonly ofSort = new Map<string, readonly DeviceTaintRule[]>();
  private readonly struck = new Map<string, { taint: DeviceTaintRule; lots: FailingLots }>();
  private taints = new Map<string, SliceTaint[]>();

  constructor(options: DeviceTaintsOptions) {
    this.options = options;
    for (const { name, count, taints } of options.rule.devices)
      if (taints.length > 0) for (let i = 0; i < count; i++) this.ofSort.set(`${name}-${i}`, taints);
  }

  /** Taints by the device's name; who has none is not in it. */
  get now(): ReadonlyMap<string, readonly SliceTaint[]> {
    return this.taints;
  }

  /** So many devices get this taint, drawn by the seed; without a number all of them. */
  add(taint: DeviceTaintRule, count: number | undefined): void {
    this.lotsOf(taint).fail(count);
  }

  /** What {@link add} did with the same words is over. */
  remove(taint: DeviceTaintRule, count: number | undefined): void {
    this.lotsOf(taint).heal(count);
  }

  /** Looks which devices have which taints now. True when that is other than at the last look. */
  look(ill: ReadonlySet<string>): boolean {
    const before = this.taints;
    const { names, rule, now } = this.options;
    const added = rfc3339(now());
    const held = [...this.struck.values()].map(({ taint, lots }) => ({ taint, devices: lots.ill }));
    if (rule.taintsUnhealthy !== undefined) held.push({ taint: rule.taintsUnhealthy, devices: ill });
    this.taints = new Map();
    let same = true;
    for (const name of names) {
      const of = new Map((this.ofSort.get(name) ?? []).map((taint) => [taintText(taint), taint]));
      for (const { taint, devices } of held) if (devices.has(name)) of.set(taintText(taint), taint);
      const known = new Map((before.get(name) ?? []).map((taint) => [taintText(taint), taint]));
      same &&= of.size === known.size && [...of.keys()].every((text) => known.has(text));
      if (of.size === 0) continue;
      this.taints.set(
        name,
        [...of].map(([text, taint]) => known.get(text) ?? { ...taint, timeAdded: added }),
      );
    }
    return !same;
  }

  private lotsOf(taint: DeviceTaintRule): FailingLots {
    const text = taintText(taint);
    const known = this.struck.get(text);
    if (known !== undefined) return known.lots;
    const { seed, rule, names } = this.options;
    const lots = new FailingLots({ seed, of: ['driver-taint', rule.driver, text], ids: names, unhealthy: 0 });
    this.struck.set(text, { taint, lots });
    return lots;
  }
}
