import { labelText } from '../../record/metrics/text-format.ts';
import type { FamilyType } from '../../record/metrics/text-format.ts';
import type { BlockIoReading, InterfaceReading } from '../../resources/cgroup-stats/cgroup-reading.ts';
import type { PartitionReading } from '../../resources/cgroup-stats/partitions.ts';
import type { ContainerFamily } from './family.ts';

/**
 * Network, file systems and block devices under cAdvisor's names. Times of disks are seconds, as their names say; cAdvisor
 * takes the kernel's milliseconds for nanoseconds and tells a millionth.
 */
export const ioFamilies: readonly ContainerFamily[] = [
  network('receive_bytes', 'bytes received', 'rxBytes'),
  network('receive_packets', 'packets received', 'rxPackets'),
  network('receive_packets_dropped', 'packets dropped while receiving', 'rxDropped'),
  network('receive_errors', 'errors encountered while receiving', 'rxErrors'),
  network('transmit_bytes', 'bytes transmitted', 'txBytes'),
  network('transmit_packets', 'packets transmitted', 'txPackets'),
  network('transmit_packets_dropped', 'packets dropped while transmitting', 'txDropped'),
  network('transmit_errors', 'errors encountered while transmitting', 'txErrors'),

  disk('inodes_free', 'Number of available Inodes', 'gauge', (one) => one.inodesFree),
  disk('inodes_total', 'Number of Inodes', 'gauge', (one) => one.inodes),
  disk(
    'limit_bytes',
    'Number of bytes that can be consumed by the container on this filesystem.',
    'gauge',
    (one) => one.capacityBytes,
  ),
  disk(
    'usage_bytes',
    'Number of bytes that are consumed by the container on this filesystem.',
    'gauge',
    (one) => one.usedBytes,
  ),
  disk('reads_bytes_total', 'Cumulative count of bytes read', 'counter', null, (one) => one.readBytes),
  disk(
    'reads_total',
    'Cumulative count of reads completed',
    'counter',
    (one) => one.reads,
    (one) => one.reads,
  ),
  disk('sector_reads_total', 'Cumulative count of sector reads completed', 'counter', (one) => one.sectorsRead),
  disk('reads_merged_total', 'Cumulative count of reads merged', 'counter', (one) => one.readsMerged),
  disk('read_seconds_total', 'Cumulative count of seconds spent reading', 'counter', (one) => one.readMs / 1000),
  disk('writes_bytes_total', 'Cumulative count of bytes written', 'counter', null, (one) => one.writeBytes),
  disk(
    'writes_total',
    'Cumulative count of writes completed',
    'counter',
    (one) => one.writes,
    (one) => one.writes,
  ),
  disk('sector_writes_total', 'Cumulative count of sector writes completed', 'counter', (one) => one.sectorsWritten),
  disk('writes_merged_total', 'Cumulative count of writes merged', 'counter', (one) => one.writesMerged),
  disk('write_seconds_total', 'Cumulative count of seconds spent writing', 'counter', (one) => one.writeMs / 1000),
  disk('io_current', 'Number of I/Os currently in progress', 'gauge', (one) => one.inProgress),
  disk('io_time_seconds_total', 'Cumulative count of seconds spent doing I/Os', 'counter', (one) => one.ioMs / 1000),
  disk(
    'io_time_weighted_seconds_total',
    'Cumulative weighted I/O time in seconds',
    'counter',
    (one) => one.weightedIoMs / 1000,
  ),
  {
    ...{ name: 'container_blkio_device_usage_total', help: 'Blkio Device bytes usage', type: 'counter' },
    samples: ({ labels, reading }, add) => {
      for (const { device, major, minor, bytesByOperation } of reading.blockIo ?? []) {
        for (const operation of Object.keys(bytesByOperation).sort()) {
          const set = labels.with({
            beforeId: labelText({ device }),
            beforeName: `major="${major}",minor="${minor}"`,
            beforePod: labelText({ operation }),
          });
          add(set, bytesByOperation[operation] ?? 0, reading.at);
        }
      }
    },
  },
];

function network(what: string, words: string, field: Exclude<keyof InterfaceReading, 'name'>): ContainerFamily {
  return {
    ...{ name: `container_network_${what}_total`, help: `Cumulative count of ${words}`, type: 'counter' },
    samples: ({ labels, interfaces, reading }, add) => {
      for (const one of interfaces) {
        add(labels.with({ beforeName: labelText({ interface: one.name }) }), one[field], reading.at);
      }
    },
  };
}

/**
 * A series for each device: of the cgroup's block I/O where the kernel counts it, and of the machine's file systems. One
 * that is both has the cgroup's number: Go's registry takes the first.
 */
function disk(
  what: string,
  help: string,
  type: FamilyType,
  ofPartition: ((one: PartitionReading) => number) | null,
  ofCgroup?: (one: BlockIoReading) => number,
): ContainerFamily {
  return {
    ...{ name: `container_fs_${what}`, help, type },
    samples: ({ labels, partitions, reading }, add) => {
      const done = new Set<string>();
      const one = (device: string, value: number) => {
        if (done.has(device)) return;
        done.add(device);
        add(labels.with({ beforeId: labelText({ device }) }), value, reading.at);
      };
      if (ofCgroup !== undefined) for (const io of reading.blockIo ?? []) one(io.device, ofCgroup(io));
      if (ofPartition !== null) for (const partition of partitions) one(partition.device, ofPartition(partition));
    },
  };
}
