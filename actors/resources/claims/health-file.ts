import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import type { ClaimState } from '../../../machines/claims/claim-state.ts';
import {
  HEALTH_CHECKPOINT,
  healthCheckpointText,
  readHealthCheckpoint,
} from '../../../machines/claims/health-checkpoint.ts';

type Health = NonNullable<ClaimState['health']>;

/** `dra_health_state`: what drivers told of their devices' health, in kubelet's own format, so that either agent finds it. */
export class HealthFile {
  private readonly path: string;
  private readonly log: Logger;
  private writing: Promise<void> = Promise.resolve();

  constructor(rootDir: string, log: Logger) {
    this.path = join(rootDir, HEALTH_CHECKPOINT);
    this.log = log;
  }

  /** Null when there is none that can be read; one that is damaged is told, as kubelet tells it. */
  async read(now: { at: number; steady: number }): Promise<Health | null> {
    try {
      return readHealthCheckpoint(await readFile(this.path, 'utf8'), now);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
        this.log.error({ err: error }, 'Failed to load health checkpoint, proceeding with empty cache');
      return null;
    }
  }

  /** Writes the whole, beside the old one and then in its place; what fails is told, and costs a new agent 30 s of `Unknown`. */
  write(health: Health): Promise<void> {
    const text = healthCheckpointText(health);
    this.writing = this.writing.then(() => this.put(text));
    return this.writing;
  }

  /** Resolves when nothing is being written. */
  settled(): Promise<void> {
    return this.writing;
  }

  private async put(text: string): Promise<void> {
    const beside = `${this.path}.tmp`;
    try {
      await writeFile(beside, text, { mode: 0o600 });
      await rename(beside, this.path);
    } catch (error) {
      await rm(beside, { force: true }).catch(() => undefined);
      const words =
        'Failed to save health checkpoint after update. Kubelet restart may lose the device health information.';
      this.log.error({ err: error }, words);
    }
  }
}
