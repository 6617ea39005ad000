import type { DriverRule } from './profile/driver-schema.ts';

/** Devices of one slice, at the most (resource.k8s.io/v1 ResourceSliceMaxDevices). */
const MOST_OF_SLICE = 128;

/** A device as a ResourceSlice tells it. */
interface SliceDevice {
  name: string;
  attributes: Readonly<Record<string, unknown>>;
  capacity: Readonly<Record<string, { value: string }>>;
}

/** A ResourceSlice (resource.k8s.io/v1) of a node, as far as a driver writes it. */
export interface DriverSlice {
  metadata: { name: string };
  spec: {
    driver: string;
    nodeName: string;
    pool: { name: string; generation: number; resourceSliceCount: number };
    devices: SliceDevice[];
  };
}

/** Names of all devices of a driver: `gpu-0`, `gpu-1` ... */
export function deviceNames(rule: DriverRule): string[] {
  return devicesOf(rule).map(({ name }) => name);
}

/**
 * The ResourceSlices of a driver on a node: one pool, called as the node, in as many slices as its devices need. Their names are the same
 * each time, so that nothing is there twice whoever publishes it again.
 */
export function slicesOf(rule: DriverRule, nodeName: string): DriverSlice[] {
  const { driver } = rule;
  const devices = devicesOf(rule);
  const resourceSliceCount = Math.ceil(devices.length / MOST_OF_SLICE);
  const pool = { name: nodeName, generation: 1, resourceSliceCount };
  return Array.from({ length: resourceSliceCount }, (_, i) => ({
    metadata: { name: `${nodeName}-${driver}-${i}` },
    spec: { driver, nodeName, pool, devices: devices.slice(i * MOST_OF_SLICE, (i + 1) * MOST_OF_SLICE) },
  }));
}

function devicesOf({ devices }: DriverRule): SliceDevice[] {
  return devices.flatMap(({ name, count, attributes, capacity }) => {
    const amounts = Object.fromEntries(Object.entries(capacity).map(([key, value]) => [key, { value }]));
    return Array.from({ length: count }, (_, i) => ({ name: `${name}-${i}`, attributes, capacity: amounts }));
  });
}
