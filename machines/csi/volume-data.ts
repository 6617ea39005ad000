import { goJson } from '../container-config/go-json.ts';

/** Longest file of this kind that is read, bytes. */
export const VOLUME_DATA_BYTES = 64 * 1024;

/**
 * What stands in `vol_data.json` beside a volume, so that it can be taken down when nothing else is known of it: kubelet's own file, by its
 * names.
 */
export interface VolumeData {
  /** The PV's name, or the pod's for an inline volume. */
  specVolID?: string;
  volumeHandle?: string;
  driverName?: string;
  nodeName?: string;
  attachmentID?: string;
  volumeLifecycleMode?: string;
  /** SELinux label that it is mounted with. */
  seLinuxMountContext?: string;
}

const NAMES = [
  ...['attachmentID', 'driverName', 'nodeName', 'seLinuxMountContext'],
  ...['specVolID', 'volumeHandle', 'volumeLifecycleMode'],
] as const;

/** The file's bytes, as Go writes a map: keys in order, a line's end behind. */
export function volumeDataText(data: VolumeData): string {
  const sorted = Object.fromEntries(Object.entries(data).sort(([a], [b]) => (a < b ? -1 : 1)));
  return `${goJson(sorted)}\n`;
}

/** Null when it is no such file. */
export function readVolumeData(text: string): VolumeData | null {
  if (text.length > VOLUME_DATA_BYTES) return null;
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch {
    return null;
  }
  if (typeof found !== 'object' || found === null) return null;
  const data: Record<string, string> = {};
  for (const name of NAMES) {
    const value = Object.hasOwn(found, name) ? (found as Record<string, unknown>)[name] : undefined;
    if (typeof value === 'string') data[name] = value;
  }
  return data;
}
