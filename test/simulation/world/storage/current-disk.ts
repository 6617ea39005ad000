import type { VirtualTime } from '../virtual-time.ts';
import type { Disk } from './disk.ts';

/** The machine on which the modules that the loader redirects act. */
interface Machine {
  disk: Disk;
  time: VirtualTime;
}

let current: Machine | null = null;

/** From now on this is the machine. */
export function setMachine(machine: Machine | null): void {
  current = machine;
}

/**
 * One call of the file system, some time later: whoever made it may be dead by then, and it is not carried out.
 *
 * @throws Error when there is no machine
 */
export function onDisk<T>(act: (disk: Disk) => T): Promise<T> {
  if (current === null) throw new Error('there is no simulated machine');
  const { disk, time } = current;
  const { owner } = time;
  return new Promise((resolve, reject) => {
    const run = (): void => {
      try {
        resolve(act(disk));
      } catch (error) {
        reject(error as Error);
      }
    };
    time.after(1, owner, run, false);
  });
}
