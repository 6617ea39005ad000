import {
  closeSync,
  close,
  ftruncate,
  ftruncateSync,
  open,
  openSync,
  readFileSync,
  rmSync,
  write,
  writeSync,
} from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { dropOldest, dropOldestSync } from './segment-files.ts';
import type { SegmentBound } from './segment-files.ts';

/** Told when a call is over; the error when it failed. */
export type Over = (error: Error | null) => void;

/**
 * How a log gets to its disk. A call may tell its end before it returns ({@link syncDisk}), or later ({@link patientDisk});
 * a log makes one at a time.
 */
export interface LogDisk {
  /** A write costs so much more than its lines that those that nobody waits for are gathered for a moment. */
  gathers?: boolean;
  /** Makes room within `bound`, then makes the segment `path`, and closes the one before it (`last`, -1 = none). */
  begin: (path: string, last: number, bound: SegmentBound, over: (error: Error | null, fd: number) => void) => void;
  /** Writes all of it. */
  write: (fd: number, bytes: Buffer, over: Over) => void;
  /** When a call of whichever log was answered last (`performance.now()`), where calls wait for each other. */
  answeredAt?: () => number;
  /** Closes a segment for good; `cut`: half a line at its end goes, `remove`: the file does. No matter what fails. */
  end: (path: string, fd: number, how: 'as it is' | 'cut' | 'remove', over: () => void) => void;
}

/** Each call ends before it returns: for whoever has time to wait, and for virtual time. */
export const syncDisk: LogDisk = {
  begin: (path, last, bound, over) => {
    let fd = -1;
    try {
      if (last >= 0) closeSync(last);
      dropOldestSync(bound, path);
      fd = openSync(path, 'a', 0o600);
    } catch (error) {
      over(error as Error, -1);
      return;
    }
    over(null, fd);
  },
  write: (fd, bytes, over) => {
    try {
      for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done);
    } catch (error) {
      over(error as Error);
      return;
    }
    over(null);
  },
  end: (path, fd, how, over) => {
    const tries = [
      // Half a line would make the whole file unreadable to replay.
      () => how === 'cut' && ftruncateSync(fd, wholeLines(readFileSync(path))),
      () => closeSync(fd),
      () => how === 'remove' && rmSync(path, { force: true }),
    ];
    for (const attempt of tries) {
      try {
        attempt();
      } catch {
        // The disk refuses everything, and what its last write came to is known by now.
      }
    }
    over();
  },
};

/** The same for many logs of a thread that has time: lines that nobody waits for are gathered, since each write is a call of its own. */
export const gatheringDisk: LogDisk = { ...syncDisk, gathers: true };

/** Calls of all logs of this thread that are still to be made, the one under way first. */
const turns: (() => void)[] = [];
let answeredAt = -Infinity;

/**
 * Makes a call when those before it are over: on a disk that stalls, the logs of a thread hold one of the few threads for files
 * together, not one each.
 */
function inTurn<A extends unknown[]>(call: (over: (...told: A) => void) => void, over: (...told: A) => void): void {
  const start = (): void =>
    call((...told) => {
      turns.shift();
      answeredAt = performance.now();
      turns[0]?.();
      over(...told);
    });
  turns.push(start);
  if (turns.length === 1) start();
}

/** The calls wait in Node's threads for files, and the thread that makes them goes on. */
export const patientDisk: LogDisk = {
  gathers: true,
  answeredAt: () => answeredAt,
  begin: (path, last, bound, over) => inTurn((told) => threadPool.begin(path, last, bound, told), over),
  write: (fd, bytes, over) => inTurn((told) => threadPool.write(fd, bytes, told), over),
  end: (path, fd, how, over) => inTurn((told) => threadPool.end(path, fd, how, told), over),
};

const threadPool: LogDisk = {
  begin: (path, last, bound, over) => {
    if (last >= 0) close(last, () => undefined);
    dropOldest(bound, path).then(
      () => open(path, 'a', 0o600, over),
      (error: unknown) => over(error as Error, -1),
    );
  },
  write: (fd, bytes, over) => {
    const from = (done: number): void => {
      write(fd, bytes, done, bytes.length - done, null, (error, written) => {
        if (error !== null) over(error);
        else if (done + written < bytes.length) from(done + written);
        else over(null);
      });
    };
    from(0);
  },
  end: (path, fd, how, over) => {
    const cut = async (): Promise<void> => {
      const length = wholeLines(await readFile(path));
      await new Promise<void>((resolve) => ftruncate(fd, length, () => resolve()));
    };
    (how === 'cut' ? cut() : Promise.resolve())
      .catch(() => undefined)
      .then(() => new Promise<void>((resolve) => close(fd, () => resolve())))
      .then(() => (how === 'remove' ? rm(path, { force: true }) : undefined))
      .catch(() => undefined)
      .then(over, over);
  },
};

/** Bytes up to the end of the last whole line. */
export function wholeLines(content: Buffer): number {
  return content.lastIndexOf(10) + 1;
}
