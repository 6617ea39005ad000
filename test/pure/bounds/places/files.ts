/** What containers, other programs and the kernel write to files, and the journal: mostly a worker reads them. */
import { parseCriLog } from '../../../../actors/host/effects/termination-message.ts';
import { parseMountinfo } from '../../../../actors/host/files/mountinfo.ts';
import { diskFormatOf } from '../../../../actors/host/volumes/disk-format.ts';
import { parseMappings } from '../../../../actors/host/userns/user-namespaces.ts';
import { isQuick, parseManifest } from '../../../../actors/pods/sources/parse-manifest.ts';
import { parseLine } from '../../../../actors/record/journal/journal-reader.ts';
import { formatKlogLine } from '../../../../actors/record/logging/klog-text.ts';
import { maskSecrets } from '../../../../actors/record/logging/mask-secrets.ts';
import { parseNetDev } from '../../../../actors/resources/cgroup-stats/interfaces.ts';
import { parseDiskstats } from '../../../../actors/resources/cgroup-stats/partitions.ts';
import { valueOf } from '../../../../actors/resources/cgroup-stats/small-files.ts';
import { meminfoBytes } from '../../../../actors/resources/machine/machine-facts.ts';
import { parserFor } from '../../../../actors/serve/container-logs/line-format.ts';
import { readStamp } from '../../../../actors/serve/container-logs/stamp.ts';
import { sniffType } from '../../../../actors/serve/node-logs/sniff-type.ts';
import { EnvFileParser } from '../../../../machines/container-config/env-file.ts';
import { readClaimCheckpoint } from '../../../../machines/claims/claim-checkpoint.ts';
import { readFlexAnswer } from '../../../../machines/flex/flex-answer.ts';
import { readHealthCheckpoint } from '../../../../machines/claims/health-checkpoint.ts';
import { highestVersion } from '../../../../machines/csi/driver-version.ts';
import { markDriver, NODE_ID_ANNOTATION } from '../../../../machines/csi/node-drivers.ts';
import { ifaceSettings, transportOf } from '../../../../machines/scsi/iface-record.ts';
import { readIscsiFile } from '../../../../machines/scsi/iscsi-file.ts';
import { placeOfFolder } from '../../../../machines/scsi/iscsi-names.ts';
import { readVolumeData } from '../../../../machines/csi/volume-data.ts';
import { readDeviceCheckpoint } from '../../../../machines/devices/device-checkpoint.ts';
import { parseResolvConf } from '../../../../machines/sandbox-config/resolv-conf.ts';
import { hostsFile } from '../../../../machines/container-config/hosts-file.ts';
import { readCheckpoint } from '../../../../machines/resize/checkpoint.ts';
import { readCpuCheckpoint } from '../../../../machines/resource-managers/cpu/cpu-checkpoint.ts';
import { readMemoryCheckpoint } from '../../../../machines/resource-managers/memory/memory-checkpoint.ts';
import { settings } from '../../pod/pod-world.ts';
import { wholePod } from '../../fuzz/support/whole-pod.ts';
import type { Place } from '../support/place.ts';

const row =
  (thread: Place['thread']) =>
  (name: string, channel: string, read: Place['read'], largest?: number): Place => ({
    ...{ name, channel, thread, read },
    ...(largest !== undefined && { largest }),
  });
const main = row('main');
const worker = row('worker');
const origin = { location: '/m.yaml', nodeName: 'n', source: 'file' } as never;

export const places: readonly Place[] = [
  worker('parseCriLog', 'termination message from the log', (text) => parseCriLog(Buffer.from(text))),
  main('parserFor: CRI', 'log line', (text) => {
    const line = Buffer.from(`2026-01-01T00:00:00Z stdout F ${text}`);
    parserFor(line, 0, line.length);
  }),
  main('parserFor', 'log line', (text) => {
    const line = Buffer.from(text);
    parserFor(line, 0, line.length);
  }),
  main('parserFor: Docker', 'log line', (text) => {
    const line = Buffer.from(JSON.stringify({ log: text, stream: 'stdout', time: text }));
    parserFor(line, 0, line.length);
  }),
  main('readStamp', 'log line', (text) => {
    const bytes = Buffer.from(text);
    readStamp(bytes, 0, bytes.length, { seconds: 0, nanos: 0 });
  }),
  main('ifaceSettings', 'output of iscsiadm', (text) => [transportOf(text), ifaceSettings(text)], 1 << 20),
  main('readIscsiFile', 'file beside an iSCSI volume', (text) => [readIscsiFile(text), placeOfFolder(text)], 64 << 10),
  main('readFlexAnswer', 'output of a FlexVolume driver', (text) => readFlexAnswer('mount', text), 1 << 20),
  main('sniffType', 'file below /var/log', (text) => sniffType(Buffer.from(text))),
  worker('EnvFileParser', 'env file of a container', (text) => {
    const parser = new EnvFileParser(['A', 'k1']);
    for (let at = 0; at < text.length; at += 65_536) if (!parser.push(text.slice(at, at + 65_536))) break;
    parser.end();
  }),
  worker('parseResolvConf', "the node's resolver file", parseResolvConf),
  worker('hostsFile', "the node's /etc/hosts", (text) => {
    const pod = wholePod('web', 'u1');
    hostsFile({ ...pod, spec: { containers: [], hostNetwork: true } }, ['10.0.0.1'], settings, text);
  }),
  main('isQuick', 'manifest', isQuick),
  // Other YAML is read by a thread of its own, which is given up after a minute.
  main('parseManifest', 'manifest', (text) => isQuick(text) && parseManifest(text, origin)),
  main('parseMountinfo', 'mounts', parseMountinfo),
  main('diskFormatOf', 'what blkid prints', diskFormatOf),
  main('parseMappings', 'file of the node', parseMappings),
  worker('parseLine', 'journal', (text) => parseLine({ file: 'f', line: 1, text })),
  main('formatKlogLine', 'what is logged', (text) =>
    formatKlogLine(JSON.stringify({ level: 30, time: 0, msg: text, err: text, a: { b: text } }), 1),
  ),
  main('maskSecrets', 'what is logged', (text) => maskSecrets({ a: text, password: text, b: [text] })),
  main('parseNetDev', '/proc/net/dev of a container', (text) => parseNetDev(`\n\n${text}`)),
  main('parseDiskstats', '/proc/diskstats', parseDiskstats),
  main('valueOf', 'cgroup file', (text) => valueOf(text, 'oom_kill')),
  main('meminfoBytes', '/proc/meminfo', (text) => meminfoBytes(`MemTotal:${text}`, 'MemTotal')),
  main('readCheckpoint', 'file of the node', readCheckpoint),
  main('readHealthCheckpoint', 'file of the node', (text) => readHealthCheckpoint(text, { at: 0, steady: 0 })),
  main('readDeviceCheckpoint', 'file of the node', readDeviceCheckpoint),
  main('readClaimCheckpoint', 'file of the node', readClaimCheckpoint),
  main('readCpuCheckpoint', 'file of the node', (text) => readCpuCheckpoint(text, 'static')),
  main('readCpuCheckpoint: its list', 'file of the node', (text) =>
    readCpuCheckpoint(JSON.stringify({ policyName: 'static', defaultCpuSet: text }), 'static'),
  ),
  main('readMemoryCheckpoint', 'file of the node', (text) => readMemoryCheckpoint(text, 'Static')),
  main('readVolumeData', 'file of the node', readVolumeData),
  main('highestVersion', 'answer of a plugin', (text) => highestVersion([text])),
  main(
    'markDriver',
    'annotation of the node',
    (text) => markDriver({ annotations: { [NODE_ID_ANNOTATION]: text } }, 'd', { nodeId: 'n', topology: {} }),
    // What the API server lets the annotations of an object have together (apimachinery, TotalAnnotationSizeLimitB).
    256 * 1024,
  ),
];
