import type { DriverSlice, SliceDevice } from './driver-slices.ts';

type Spec = Partial<DriverSlice['spec']>;

/** Fields of ResourceSlices behind feature gates (kube-apiserver: dropDisabledFields), each with how many there are of it. */
const GATED: readonly { field: string; gate: string; count: (spec: Spec) => number }[] = [
  { field: 'devices[].taints', gate: 'DRADeviceTaints', count: having(({ taints }) => taints) },
  {
    ...{ field: 'devices[].consumesCounters', gate: 'DRAPartitionableDevices' },
    count: having(({ consumesCounters }) => consumesCounters),
  },
  {
    ...{ field: 'sharedCounters', gate: 'DRAPartitionableDevices' },
    count: ({ sharedCounters = [] }) => sharedCounters.length,
  },
  {
    ...{ field: 'devices[].allowMultipleAllocations', gate: 'DRAConsumableCapacity' },
    count: having(({ allowMultipleAllocations }) => allowMultipleAllocations),
  },
];

/** What of a ResourceSlice the API server has left out, by what it answered. */
export function droppedFields(sent: Spec, stored: Spec | undefined): { field: string; gate: string }[] {
  if (stored === undefined) return [];
  return GATED.filter(({ count }) => count(stored) < count(sent));
}

function having(field: (device: SliceDevice) => unknown): (spec: Spec) => number {
  return ({ devices = [] }) => devices.filter((device) => field(device) !== undefined).length;
}
