import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { LogWriter } from '../../../cri/sim/log-writer.ts';
import { nanosToMs } from '../../../cri/sim/nano-clock.ts';
import { parseCriLog } from '../../host/effects/termination-message.ts';

import type { FleetClock } from './fleet-clock.ts';

/** Hears what a container says; whole lines have their end. */
export type Follower = (stream: 'stdout' | 'stderr', text: string) => void;

/**
 * Logs of simulated containers. A file comes into being with the first line, or with the first who asks for the log
 * ({@link touch}): most containers of a large run never write, and nobody reads them.
 */
export class NodeLogs extends LogWriter {
  private readonly clock: Pick<FleetClock, 'toReal'>;
  private readonly made = new Set<string>();
  private readonly followers = new Map<string, Set<Follower>>();

  /** @param clock that of the containers: logs have the times of the machine's, as who reads them asks by it */
  constructor(clock: Pick<FleetClock, 'toReal'>) {
    super();
    this.clock = clock;
  }

  override create(): void {
    // With the first line.
  }

  override write(path: string, at: string, stream: 'stdout' | 'stderr', text: string, partial = false): void {
    this.makeFolder(path);
    const real = `${this.clock.toReal(nanosToMs(at))}${at.slice(-6)}`;
    super.write(path, real, stream, text, partial);
    const whole = partial || text.endsWith('\n') ? text : `${text}\n`;
    for (const follower of [...(this.followers.get(path) ?? [])]) follower(stream, whole);
  }

  /** Tells what is written to a log from now on; gives back how to end that. */
  follow(path: string, follower: Follower): () => void {
    let set = this.followers.get(path);
    if (set === undefined) this.followers.set(path, (set = new Set()));
    set.add(follower);
    return () => {
      set.delete(follower);
      if (set.size === 0 && this.followers.get(path) === set) this.followers.delete(path);
    };
  }

  /** Makes the file, empty, when it is not there: somebody is about to read it. */
  touch(path: string): void {
    this.makeFolder(path);
    closeSync(openSync(path, 'a', 0o640));
  }

  /** Removes a container's log. */
  remove(path: string): void {
    this.close(path);
    if (this.made.has(dirname(path))) rmSync(path, { force: true });
  }

  /** Removes the logs of a pod. */
  removeFolder(folder: string): void {
    for (const each of this.made) {
      if (each !== folder && !each.startsWith(`${folder}/`)) continue;
      this.made.delete(each);
      rmSync(each, { recursive: true, force: true });
    }
    if (existsSync(folder)) rmSync(folder, { recursive: true, force: true });
  }

  /** The last lines of a log, without what the format puts before each. */
  tail(path: string, lines: number, bytes: number): string {
    if (!existsSync(path)) return '';
    const text = parseCriLog(readFileSync(path)).toString('utf8').split('\n');
    return text
      .slice(-lines - 1)
      .join('\n')
      .slice(-bytes);
  }

  private makeFolder(path: string): void {
    const folder = dirname(path);
    if (this.made.has(folder)) return;
    mkdirSync(folder, { recursive: true });
    this.made.add(folder);
  }
}
