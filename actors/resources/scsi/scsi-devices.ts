import { open, realpath } from 'node:fs/promises';
import { constants } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ActorletError } from '../../../machines/errors/define.ts';
import { pluginErrors } from '../../../machines/errors/plugin-errors.ts';
import { ignoring } from '../../host/files/host-failure.ts';
import { howEnded, runProgram } from '../../host/files/program.ts';
import { isThere, namesIn } from '../../host/files/what-is-there.ts';
import type { ScsiMachine } from './scsi-ground.ts';

/** The multipath device that a disk (or a link to it) is a path of, '' when there is none; one that is such a device is that itself. */
export async function multipathOf(machine: ScsiMachine, device: string): Promise<string> {
  const { dev, sys } = machine;
  if (device.startsWith(join(dev, 'dm-'))) return device;
  const disk = await ignoring(realpath(device), 'ENOENT', 'ENOTDIR');
  if (disk === undefined || dirname(disk) !== (await realpath(dev))) return '';
  const name = disk.slice(disk.lastIndexOf('/') + 1);
  for (const each of await namesIn(join(sys, 'block')))
    if (each.startsWith('dm-') && (await isThere(join(sys, 'block', each, 'slaves', name)))) return join(dev, each);
  return '';
}

/** The first multipath device that one of these disks is a path of; looks so often, with a pause between. '' when there is none. */
export async function awaitMultipath(
  machine: ScsiMachine,
  devices: readonly string[],
  looks: number,
  signal: AbortSignal,
): Promise<string> {
  for (let look = 1; ; look += 1) {
    for (const device of devices) {
      const found = await multipathOf(machine, device);
      if (found !== '') return found;
    }
    if (look >= looks) return '';
    await sleep(machine.lookMs, undefined, { signal });
  }
}

/** The disks that a multipath device stands on. */
export async function pathsOf({ dev, sys }: ScsiMachine, multipath: string): Promise<string[]> {
  const slaves = await namesIn(join(sys, 'block', multipath.slice(multipath.lastIndexOf('/') + 1), 'slaves'));
  return slaves.map((name) => join(dev, name));
}

/** Lets go of a multipath device. Throws in kubelet's words. */
export async function flushMultipath(machine: ScsiMachine, device: string): Promise<void> {
  const ended = await runProgram(machine.multipath, ['-f', device]);
  if (ended.missing) throw new ActorletError(pluginErrors.noMultipath, { device });
  if (ended.status !== 0)
    throw new Error(`failed to flush multipath device ${device}: ${howEnded(ended)}\n${ended.output}`);
}

/** Has the kernel forget a disk (`sda`); one that it does not know is forgotten. */
export async function deleteDisk({ sys }: ScsiMachine, name: string): Promise<void> {
  await ignoring(tellKernel(join(sys, 'block', name, 'device/delete'), '1'), 'ENOENT', 'ENOTDIR', 'ENODEV');
}

/** Writes to a file of the kernel's. Rejects when it is not there. */
export async function tellKernel(path: string, text: string): Promise<void> {
  // Such a file may be one that cannot be read.
  const file = await open(path, constants.O_WRONLY);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}
