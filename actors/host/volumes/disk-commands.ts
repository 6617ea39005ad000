import { messageOf } from '../../../machines/values/message-of.ts';
import { codeOf, HostFailure } from '../files/host-failure.ts';
import { mount } from '../files/mounts.ts';
import { howEnded, runProgram } from '../files/program.ts';
import { diskFormatOf } from './disk-format.ts';

/** Code of a mount that has failed while the disk has another file system than the one that was asked for (mount-utils: FilesystemMismatch). */
const FILE_SYSTEM_MISMATCH = 'FilesystemMismatch';

/** Did a disk's file system, or what that led to, come to this? */
export function isFileSystemMismatch(error: unknown): boolean {
  for (let cause = error; cause instanceof Error; cause = cause.cause)
    if (codeOf(cause) === FILE_SYSTEM_MISMATCH) return true;
  return false;
}

/** The type of the file system on a disk, '' when it has none. @throws HostFailure when blkid cannot tell */
export async function diskFormat(device: string): Promise<string> {
  const ended = await runProgram('blkid', ['-p', '-s', 'TYPE', '-s', 'PTTYPE', '-o', 'export', device]);
  // Nothing was found on it.
  if (ended.status === 2) return '';
  if (ended.status !== 0) throw new HostFailure('DiskFormat', howEnded(ended));
  const format = diskFormatOf(ended.output);
  if (format === null) throw new HostFailure('DiskFormat', `blkid returns invalid output: ${ended.output}`);
  return format;
}

/** Sets a disk up for pods as kubelet does (SafeFormatAndMount): one without a file system is formatted, another one checked, and then mounted. */
export async function formatAndMount(device: string, target: string, fsType: string, options: string[]): Promise<void> {
  const readOnly = options.includes('ro');
  const format = await diskFormat(device).catch((error: unknown) => {
    const text = `failed to get disk format of disk ${device}: ${(error as Error).message}`;
    throw new HostFailure('GetDiskFormatFailed', text, { cause: error });
  });
  const type = fsType || 'ext4';
  const all = [...options, 'defaults'];
  if (format === '') {
    if (readOnly)
      throw new HostFailure(
        'UnformattedReadOnly',
        `cannot mount unformatted disk ${device} as we are manipulating it in read-only mode`,
      );
    const flags = type === 'ext4' || type === 'ext3' ? ['-F', '-m0'] : type === 'xfs' ? ['-f'] : [];
    const ended = await runProgram(`mkfs.${type}`, [...flags, device]);
    if (ended.status !== 0) {
      const text = `format of disk "${device}" failed: type:("${type}") target:("${target}") options:("${all.join(',')}") errcode:(${howEnded(ended)}) output:(${ended.output}) `;
      throw new HostFailure('FormatFailed', text);
    }
  } else if (!readOnly) {
    const ended = await runProgram('fsck', ['-a', device]);
    // 4: what is wrong could not be put right. Others are told by mount, if they matter.
    if (ended.status === 4)
      throw new HostFailure(
        'HasFilesystemErrors',
        `'fsck' found errors on device ${device} but could not correct them: ${ended.output}`,
      );
  }
  await mount(device, target, type, all).catch((error: unknown) => {
    if (format === '' || format === type) throw error;
    throw new HostFailure(FILE_SYSTEM_MISMATCH, messageOf(error), { cause: error });
  });
}

/** Makes a mounted file system as large as its disk (ResizeFs). */
export async function growFileSystem(device: string, mountPath: string): Promise<void> {
  const format = await diskFormat(device).catch((error: unknown) => {
    const text = `ResizeFS.Resize - error checking format for device ${device}: ${(error as Error).message}`;
    throw new HostFailure('ResizeFailed', text, { cause: error });
  });
  if (format === '') return;
  const grow = async (command: string, args: string[], what: string): Promise<void> => {
    const ended = await runProgram(command, args);
    if (ended.status !== 0) {
      const text = `resize of device ${what} failed: ${howEnded(ended)}. ${command} output: ${ended.output}`;
      throw new HostFailure('ResizeFailed', text);
    }
  };
  if (format === 'ext3' || format === 'ext4') await grow('resize2fs', [device], device);
  else if (format === 'xfs') await grow('xfs_growfs', ['-d', mountPath], mountPath);
  else if (format === 'btrfs') await grow('btrfs', ['filesystem', 'resize', 'max', mountPath], mountPath);
  else
    throw new HostFailure(
      'ResizeFailed',
      `ResizeFS.Resize - resize of format ${format} is not supported for device ${device} mounted at ${mountPath}`,
    );
}
