/** Files of the kernel in which names and numbers of a container stand, in whatever form. The main thread reads them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readBlockIoV1, readBlockIoV2 } from '../../../../actors/resources/cgroup-stats/block-io.ts';
import { readPids } from '../../../../actors/resources/cgroup-stats/processes.ts';
import { readV1 } from '../../../../actors/resources/cgroup-stats/read-v1.ts';
import { readV2 } from '../../../../actors/resources/cgroup-stats/read-v2.ts';
import { readNumber } from '../../../../actors/resources/cgroup-stats/small-files.ts';
import { parseProjectLists } from '../../../../actors/host/quota/project-files.ts';
import { quotaAmount } from '../../../../actors/host/quota/quota-commands.ts';
import { parseKmsgRecord } from '../../../../machines/oom/kmsg-record.ts';
import { readOomLine } from '../../../../machines/oom/oom-report.ts';
import { MIB } from '../support/place.ts';
import type { Place } from '../support/place.ts';

/** They have a few KiB, but for the list of processes. */
const FILE = 32 * 1024;
const place = (name: string, channel: string, read: Place['read']): Place => ({
  ...{ name, channel, thread: 'main', read, largest: FILE },
});
const devices = { name: () => '/dev/vda' };
/** No processes: `/proc` is asked for each. */
const without = { processes: true };

/** Hands a folder that has the text in each of the files, and takes it away again. */
const inFiles =
  (files: readonly string[], read: (folder: string) => unknown) =>
  (text: string): void => {
    const folder = mkdtempSync(join(tmpdir(), 'bounds-'));
    try {
      for (const file of files) writeFileSync(join(folder, file), text);
      read(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };
const cgroup = (name: string, files: readonly string[], read: (folder: string) => unknown): Place =>
  place(name, 'cgroup file', inFiles(files, read));

const v1 = (folder: string) => ({ cpu: folder, cpuacct: folder, memory: folder, pids: folder, blkio: folder });
const PRESSURE = ['cpu.pressure', 'memory.pressure', 'io.pressure'];

/** Of the kernel's log, with names of processes and cgroups in it; one read gives so much at most. */
const oom = (name: string, read: Place['read']): Place => ({
  ...{ name, channel: 'record of the kernel log', thread: 'main', read, largest: 8192 },
});
const OPEN = readOomLine(null, 'x invoked oom-killer: order=0').open;

export const places: readonly Place[] = [
  oom('parseKmsgRecord', (text) => [parseKmsgRecord(text), parseKmsgRecord(`6,1,1,-;${text}`)]),
  oom('readOomLine', (text) => [readOomLine(null, text), readOomLine(OPEN, text)]),
  oom('readOomLine: names', (text) => [
    readOomLine(OPEN, `oom-kill:constraint=a,nodemask=b,cpuset=${text},oom_memcg=/,task_memcg=/,task=x,pid=1,uid=0`),
    readOomLine(OPEN, `Task in ${text} killed as a result of limit of /`),
    readOomLine(OPEN, `Killed process 1 (${text}`),
  ]),
  // /etc/projects and what xfs_quota says: the administrator's, but other programs write there, too.
  place('parseProjectLists', 'file of projects', (text) => parseProjectLists(text, text)),
  place('quotaAmount', 'answer of xfs_quota', (text) => {
    try {
      quotaAmount(text);
    } catch {
      // It says nothing that can be read.
    }
  }),
  { ...cgroup('readPids', ['cgroup.procs'], readPids), largest: MIB },
  cgroup('readNumber', ['n'], (folder) => readNumber(`${folder}/n`)),
  cgroup('readBlockIoV1', ['blkio.io_service_bytes_recursive', 'blkio.io_serviced_recursive'], (folder) =>
    readBlockIoV1(folder, devices),
  ),
  cgroup('readBlockIoV2', ['io.stat'], (folder) => readBlockIoV2(folder, devices)),
  cgroup('readV2', ['cpu.stat', 'cpu.max', 'memory.stat', 'memory.events', ...PRESSURE], (folder) =>
    readV2(folder, devices, without),
  ),
  place('readV2: pressure of some', 'cgroup file', (text) =>
    inFiles(PRESSURE, (folder) => readV2(folder, devices, without))(`some avg10=${text}`),
  ),
  cgroup('readV1', ['cpuacct.usage', 'cpuacct.stat', 'cpu.stat', 'memory.stat', 'memory.usage_in_bytes'], (folder) =>
    readV1(v1(folder), devices, without),
  ),
];
