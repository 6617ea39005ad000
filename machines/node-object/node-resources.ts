import { isExtendedResource } from '../values/extended-resource.ts';
import { formatQuantity, parseBytes, parseQuantity } from '../values/quantity.ts';
import type { QuantityFormat } from '../values/quantity.ts';
import type { MachineFacts, NodeObjectConfig } from './node-types.ts';

/** Resource name -> quantity as the API writes it. */
export type Resources = Record<string, string>;

const NANO = 1_000_000_000n;

const HUGE_PAGES = 'hugepages-';

function bytes(value: number): string {
  return formatQuantity(BigInt(Math.trunc(value)) * NANO, 'BinarySI');
}

/** Is it `hugepages-<size>`? */
export function isHugePages(name: string): boolean {
  return name.startsWith(HUGE_PAGES);
}

/**
 * What the machine has, as quantities: memory and storage in binary units, so that `24684100Ki` is written as
 * kubelet writes it. `pods` is `maxPods`, or less when `podsPerCore` says so.
 */
export function machineCapacity(machine: MachineFacts, config: NodeObjectConfig): Resources {
  const capacity: Resources = {
    cpu: String(machine.cores),
    memory: bytes(machine.memoryBytes),
    pods: String(
      config.podsPerCore > 0 ? Math.min(machine.cores * config.podsPerCore, config.maxPods) : config.maxPods,
    ),
  };
  for (const { pageBytes, pages } of machine.hugePages) {
    capacity[`${HUGE_PAGES}${bytes(pageBytes)}`] = bytes(pageBytes * pages);
  }
  if (config.localStorageCapacityIsolation && machine.ephemeralStorageBytes !== null) {
    capacity['ephemeral-storage'] = bytes(machine.ephemeralStorageBytes);
  }
  return capacity;
}

/**
 * What pods may not have, in nano units by resource: reserved for the system and for Kubernetes, and what hard
 * eviction keeps free (GetNodeAllocatableReservation).
 */
function reservation(capacity: Resources, config: NodeObjectConfig): Record<string, bigint> {
  const kept: Record<string, bigint> = {};
  const eviction: Record<string, bigint> = {
    memory: threshold(config.evictionHard['memory.available'], capacity['memory']),
    'ephemeral-storage': threshold(config.evictionHard['nodefs.available'], capacity['ephemeral-storage']),
  };
  for (const name of Object.keys(capacity)) {
    if (name !== 'cpu' && name !== 'memory' && name !== 'ephemeral-storage' && !isHugePages(name)) continue;
    const sum =
      (parseQuantity(config.systemReserved[name] ?? '0') ?? 0n) +
      (parseQuantity(config.kubeReserved[name] ?? '0') ?? 0n) +
      (eviction[name] ?? 0n);
    if (sum !== 0n) kept[name] = sum;
  }
  return kept;
}

/** What pods may not have of this machine, in nano units by resource. */
export function reservedOf(machine: MachineFacts, config: NodeObjectConfig): Record<string, bigint> {
  return reservation(machineCapacity(machine, config), config);
}

/** What is reserved of more than the machine has, in kubelet's words (validateNodeAllocatable); none when all is well. */
export function overReserved(capacity: Resources, config: NodeObjectConfig): string[] {
  return Object.entries(reservation(capacity, config)).flatMap(([name, nano]) => {
    const whole = capacity[name] ?? '0';
    if (nano <= (parseQuantity(whole) ?? 0n)) return [];
    const kept = formatQuantity(nano, name === 'cpu' ? 'DecimalSI' : 'BinarySI');
    return `Resource "${name}" has a reservation of ${kept} but capacity of ${whole}. Expected capacity >= reservation.`;
  });
}

/** An eviction threshold in nano units. Percentages go through a 32-bit float, as kubelet's do: 10% of 1Gi is a byte more. */
function threshold(value: string | undefined, capacity: string | undefined): bigint {
  if (value === undefined || value === '0%' || value === '100%') return 0n;
  if (!value.endsWith('%')) return parseQuantity(value) ?? 0n;
  const share = Math.fround(Math.fround(Number(value.slice(0, -1))) / 100);
  const whole = capacity === undefined ? 0 : parseBytes(capacity);
  return Number.isFinite(share) ? BigInt(Math.trunc(whole * share)) * NANO : 0n;
}

/**
 * What pods may have: capacity less the reservation, never below zero; all huge pages are taken out of the memory.
 * `before` is the allocatable that the object has: resources of others in it stay as long as capacity knows them.
 */
export function allocatableOf(capacity: Resources, before: Resources, config: NodeObjectConfig): Resources {
  const allocatable: Resources = {};
  for (const [name, quantity] of Object.entries(before)) {
    if (name in capacity || !isExtendedResource(name)) allocatable[name] = quantity;
  }
  const reserved = reservation(capacity, config);
  for (const [name, quantity] of Object.entries(capacity)) {
    allocatable[name] = less(quantity, reserved[name] ?? 0n, name === 'cpu' ? 'DecimalSI' : 'BinarySI');
  }
  for (const [name, quantity] of Object.entries(capacity)) {
    if (!isHugePages(name)) continue;
    allocatable['memory'] = less(allocatable['memory'] ?? '0', parseQuantity(quantity) ?? 0n, 'BinarySI');
  }
  return allocatable;
}

function less(quantity: string, nano: bigint, format: QuantityFormat): string {
  // As it stands: bytes that no 1024 divides would else be written in thousands.
  if (nano === 0n) return quantity;
  const rest = (parseQuantity(quantity) ?? 0n) - nano;
  return formatQuantity(rest < 0n ? 0n : rest, format);
}
