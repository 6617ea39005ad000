import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { z } from 'zod';
import { ActorletError } from '../../../machines/errors/define.ts';
import { nodeErrors } from '../../../machines/errors/node-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';

/** Of the file: what was told last, and since which start of the machine its number counts. */
const told = z.object({ boot: z.string(), sequence: z.number() });

/**
 * Remembers over the agent's life which record of the kernel's log was the last that an event was made of, in a file of the root
 * directory. A file that is missing or damaged means that none was: then all are told that the log still has, as kubelet does.
 */
export class ToldOoms {
  private readonly path: string;
  private readonly boot: string;
  private readonly log: Logger;
  private last: number;

  /** @param boot the kernel's id of this start of the machine */
  constructor(path: string, boot: string, log: Logger) {
    this.path = path;
    this.boot = boot;
    this.log = log;
    this.last = this.read();
  }

  isNew(sequence: number): boolean {
    return sequence > this.last;
  }

  /** It was told now. A file that cannot be written is a warning: at worst it is told again by the next agent. */
  tell(sequence: number): void {
    this.last = sequence;
    try {
      writeFileSync(`${this.path}.tmp`, JSON.stringify({ boot: this.boot, sequence }), { mode: 0o600 });
      renameSync(`${this.path}.tmp`, this.path);
    } catch (cause) {
      const problem = messageOf(cause);
      const err = new ActorletError(nodeErrors.oomUnremembered, { path: this.path, problem }, { cause });
      this.log.warn({ err }, 'Failed to remember the last SystemOOM event');
    }
  }

  private read(): number {
    try {
      const file = told.parse(JSON.parse(readFileSync(this.path, 'utf8')));
      return file.boot === this.boot ? file.sequence : -1;
    } catch {
      return -1;
    }
  }
}
