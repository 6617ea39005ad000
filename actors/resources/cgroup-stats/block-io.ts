import { readSmall } from './small-files.ts';
import type { BlockIoReading } from './cgroup-reading.ts';

/**
 * Files of v1's block controller that tell bytes and operations, the best first (libcontainer's order): of bfq and cfq,
 * else those of throttling.
 */
const V1_FILES = [
  ['blkio.bfq.io_service_bytes_recursive', 'blkio.bfq.io_serviced_recursive'],
  ['blkio.io_service_bytes_recursive', 'blkio.io_serviced_recursive'],
  ['blkio.throttle.io_service_bytes_recursive', 'blkio.throttle.io_serviced_recursive'],
  ['blkio.throttle.io_service_bytes', 'blkio.throttle.io_serviced'],
] as const;

/** Finds devices' names; numbers of devices do not change their meaning while one is mounted. */
export interface DeviceNames {
  /** `/dev/vda`, or '' for one that is unknown or not a disk (loop, ram, optical). */
  name(major: number, minor: number): string;
}

/** Names from `/sys/dev/block`, each read once. */
export function createDeviceNames(): DeviceNames {
  const known = new Map<string, string>();
  return {
    name: (major, minor) => {
      const key = `${major}:${minor}`;
      let name = known.get(key);
      if (name === undefined) {
        const found = /^DEVNAME=(.+)$/m.exec(readSmall(`/sys/dev/block/${key}/uevent`) ?? '')?.[1] ?? '';
        name = found === '' || /^(loop|ram|sr)/.test(found) ? '' : `/dev/${found}`;
        known.set(key, name);
      }
      return name;
    },
  };
}

/** Devices that a v1 cgroup has used; empty when the kernel counts for none. */
export function readBlockIoV1(folder: string, devices: DeviceNames): BlockIoReading[] {
  for (const [bytesFile, countsFile] of V1_FILES) {
    const bytes = readSmall(`${folder}/${bytesFile}`);
    if (bytes === undefined) continue;
    const entries = parseOperations(bytes);
    if (entries.size === 0) continue;
    const counts = parseOperations(readSmall(`${folder}/${countsFile}`) ?? '');
    return [...entries].map(([key, byOperation]) => {
      const count = counts.get(key) ?? {};
      return reading(key, devices, byOperation, { reads: count.Read ?? 0, writes: count.Write ?? 0 });
    });
  }
  return [];
}

/** Devices of a v2 cgroup from `io.stat`: `254:0 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=0 dios=0`. */
export function readBlockIoV2(folder: string, devices: DeviceNames): BlockIoReading[] {
  const readings: BlockIoReading[] = [];
  for (const line of (readSmall(`${folder}/io.stat`) ?? '').split('\n')) {
    const [key, ...items] = line.split(' ');
    if (key === undefined || !key.includes(':') || items.length === 0) continue;
    const values: Record<string, number> = {};
    for (const item of items) {
      const equals = item.indexOf('=');
      if (equals > 0) values[item.slice(0, equals)] = Number(item.slice(equals + 1));
    }
    // after the device's number some kernels write nothing but its options
    if (values.rbytes === undefined) continue;
    const bytes = { Read: values.rbytes, Write: values.wbytes ?? 0 };
    readings.push(reading(key, devices, bytes, { reads: values.rios ?? 0, writes: values.wios ?? 0 }));
  }
  return readings;
}

function reading(
  key: string,
  devices: DeviceNames,
  bytesByOperation: Record<string, number>,
  counts: { reads: number; writes: number },
): BlockIoReading {
  const [major = 0, minor = 0] = key.split(':').map(Number);
  return {
    device: devices.name(major, minor),
    major,
    minor,
    readBytes: bytesByOperation.Read ?? 0,
    writeBytes: bytesByOperation.Write ?? 0,
    ...counts,
    bytesByOperation,
  };
}

/** `254:0 Read 4096` by device; the last line (`Total 4096`) is of no device. */
function parseOperations(text: string): Map<string, Record<string, number>> {
  const found = new Map<string, Record<string, number>>();
  for (const line of text.split('\n')) {
    const [key, operation, value] = line.split(' ');
    if (key === undefined || operation === undefined || value === undefined) continue;
    const entry = found.get(key) ?? {};
    entry[operation] = Number(value);
    found.set(key, entry);
  }
  return found;
}
