import type { SliceTaint } from './device-taints.ts';
import type { DeviceCapacity } from './profile/capacity-schema.ts';
import type { DriverRule } from './profile/driver-schema.ts';

/**
 * Devices of one slice. The API takes 128 (resource.k8s.io/v1 ResourceSliceMaxDevices), but only so many when one of them is tainted or
 * takes of counters: taints come and go, and with the same number always a pool has the same slices.
 */
const MOST_OF_SLICE = 64;
/** Counter sets of one slice (ResourceSliceMaxCounterSets). */
const MOST_SETS_OF_SLICE = 8;

type Amounts = Readonly<Record<string, { value: string }>>;

/** A device as a ResourceSlice tells it. */
export interface SliceDevice {
  name: string;
  attributes: Readonly<Record<string, unknown>>;
  capacity: Readonly<Record<string, DeviceCapacity>>;
  allowMultipleAllocations?: true;
  consumesCounters?: readonly { counterSet: string; counters: Amounts }[];
  taints?: readonly SliceTaint[];
}

/** What devices of a pool are parts of. */
interface CounterSet {
  name: string;
  counters: Amounts;
}

/** A ResourceSlice (resource.k8s.io/v1) of a node, as far as a driver writes it; it has either devices or counters. */
export interface DriverSlice {
  metadata: { name: string };
  spec: {
    driver: string;
    nodeName: string;
    pool: { name: string; generation: number; resourceSliceCount: number };
    devices?: SliceDevice[];
    sharedCounters?: CounterSet[];
  };
}

/** How a driver's devices are at one moment. */
export interface PoolState {
  /** Another number than before when something is other than before. */
  generation: number;
  /** By the device's name; who is not in it has none. */
  taints: ReadonlyMap<string, readonly SliceTaint[]>;
}

/** Names of all devices of a driver: `gpu-0`, `gpu-1` ... */
export function deviceNames({ devices }: DriverRule): string[] {
  return devices.flatMap(({ name, count }) => Array.from({ length: count }, (_, i) => `${name}-${i}`));
}

/**
 * The ResourceSlices of a driver on a node: one pool, called as the node, in as many slices as its devices need, and those of what they
 * are parts of (which lie in slices of their own) behind them. Their names are the same each time, so that nothing is there twice whoever
 * publishes it again.
 */
export function slicesOf(rule: DriverRule, nodeName: string, state: PoolState): DriverSlice[] {
  const { driver } = rule;
  const contents = [
    ...inLots(devicesOf(rule, state), MOST_OF_SLICE).map((devices) => ({ devices })),
    ...inLots(counterSetsOf(rule), MOST_SETS_OF_SLICE).map((sharedCounters) => ({ sharedCounters })),
  ];
  const pool = { name: nodeName, generation: state.generation, resourceSliceCount: contents.length };
  return contents.map((content, i) => ({
    metadata: { name: `${nodeName}-${driver}-${i}` },
    spec: { driver, nodeName, pool, ...content },
  }));
}

function devicesOf({ devices, sharedCounters }: DriverRule, { taints }: PoolState): SliceDevice[] {
  const setCounts = new Map(sharedCounters.map(({ name, count }) => [name, count]));
  return devices.flatMap(({ name: sort, count, attributes, capacity, allowMultipleAllocations, consumesCounters }) => {
    const consumed = consumesCounters.map(({ counterSet, counters }) => ({ counterSet, counters: amounts(counters) }));
    return Array.from({ length: count }, (_, i): SliceDevice => {
      const name = `${sort}-${i}`;
      const tainted = taints.get(name) ?? [];
      return {
        ...{ name, attributes, capacity },
        ...(allowMultipleAllocations && { allowMultipleAllocations }),
        ...(consumed.length > 0 && {
          consumesCounters: consumed.map(({ counterSet, counters }) => ({
            counterSet: `${counterSet}-${i % (setCounts.get(counterSet) ?? 1)}`,
            counters,
          })),
        }),
        ...(tainted.length > 0 && { taints: tainted }),
      };
    });
  });
}

function counterSetsOf({ sharedCounters }: DriverRule): CounterSet[] {
  return sharedCounters.flatMap(({ name, count, counters }) => {
    const all = amounts(counters);
    return Array.from({ length: count }, (_, i) => ({ name: `${name}-${i}`, counters: all }));
  });
}

function amounts(counters: Readonly<Record<string, string>>): Amounts {
  return Object.fromEntries(Object.entries(counters).map(([name, value]) => [name, { value }]));
}

function inLots<T>(items: readonly T[], most: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / most) }, (_, i) => items.slice(i * most, (i + 1) * most));
}
