import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { nodeErrors } from '../../../machines/errors/node-errors.ts';
import { checkpointText, readCheckpoint } from '../../../machines/resize/checkpoint.ts';
import type { AllocationEntries } from '../../../machines/resize/checkpoint.ts';
import { messageOf } from '../../../machines/values/message-of.ts';

/** Changes that lose nothing when the agent dies before they are written wait so long for others, ms. */
const GATHER_MS = 1_000;
/** Pause before a file that could not be written is tried again, ms. */
const RETRY_MS = 10_000;

/**
 * One of kubelet's two checkpoints of resources in the root directory: `allocated_pods_state` or `actuated_pods_state`,
 * in its own format. Written as a whole, beside the old one and then put in its place.
 */
export class AllocationFile {
  private readonly path: string;
  private readonly log: Logger;
  private readonly entries: () => AllocationEntries;
  private timer: NodeJS.Timeout | undefined;
  private written = '';
  /** The last try failed, and this was logged: one line tells an outage. */
  private failing = false;

  constructor(path: string, log: Logger, entries: () => AllocationEntries) {
    this.path = path;
    this.log = log;
    this.entries = entries;
  }

  /** What an earlier agent left; empty when there is nothing, or nothing that can be read (then what pods ask for counts). */
  read(): AllocationEntries {
    let text: string;
    try {
      text = readFileSync(this.path, 'utf8');
    } catch {
      return {};
    }
    const entries = readCheckpoint(text);
    if (entries === null)
      this.log.error({ err: new ActorletError(nodeErrors.checkpointDamaged, { path: this.path }) }, 'Checkpoint');
    else this.written = text;
    return entries ?? {};
  }

  /** Writes soon. */
  soon(): void {
    this.timer ??= setTimeout(() => this.now(), this.failing ? RETRY_MS : GATHER_MS).unref();
  }

  /** Writes at once, if there is anything new. */
  now(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const text = checkpointText(this.entries());
    if (text === this.written) {
      this.failing = false;
      return;
    }
    try {
      writeFileSync(`${this.path}.tmp`, text, { mode: 0o600 });
      renameSync(`${this.path}.tmp`, this.path);
      this.written = text;
      if (this.failing) this.log.info({ path: this.path }, 'Checkpoint is written again');
      this.failing = false;
    } catch (error) {
      const known = this.failing;
      this.failing = true;
      this.soon();
      if (known) return;
      const problem = messageOf(error);
      const params = { path: this.path, problem };
      this.log.error(
        { err: new ActorletError(nodeErrors.checkpointUnwritten, params, { cause: error }) },
        'Checkpoint',
      );
    }
  }

  /** Writes what still waits. */
  close(): void {
    if (this.timer !== undefined) this.now();
  }
}
