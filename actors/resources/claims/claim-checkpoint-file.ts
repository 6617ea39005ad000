import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import {
  CLAIM_CHECKPOINT,
  claimCheckpointText,
  readClaimCheckpoint,
} from '../../../machines/claims/claim-checkpoint.ts';
import type { ClaimState, KnownClaim } from '../../../machines/claims/claim-state.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { nodeErrors } from '../../../machines/errors/node-errors.ts';
import { CheckpointError } from '../../../machines/values/checkpoint-error.ts';

/** `dra_manager_state`: which claims pods use, in kubelet's own format, so that either agent finds it. */
export class ClaimCheckpointFile {
  private readonly path: string;
  private writing: Promise<void> = Promise.resolve();

  constructor(rootDir: string) {
    this.path = join(rootDir, CLAIM_CHECKPOINT);
  }

  /**
   * What an earlier agent or a kubelet left; one is made where there is none.
   * @throws ActorletError NOD013 for a file that kubelet would not start with
   */
  async read(): Promise<KnownClaim[]> {
    let text: string;
    try {
      text = await readFile(this.path, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw this.unusable(String((error as Error).message));
      await mkdir(dirname(this.path), { recursive: true, mode: 0o750 });
      await this.put(claimCheckpointText(null));
      return [];
    }
    try {
      return readClaimCheckpoint(text);
    } catch (error) {
      if (!(error instanceof CheckpointError)) throw error;
      throw this.unusable(error.message);
    }
  }

  /** Writes the whole, beside the old one and then in its place. Rejects, in kubelet's words, when it is not on disk. */
  write({ claims }: ClaimState): Promise<void> {
    const keys = Object.keys(claims).sort();
    const text = claimCheckpointText(keys.flatMap((key) => claims[key] ?? []));
    const mine = this.writing.then(() => this.put(text));
    this.writing = mine.catch(() => undefined);
    return mine.catch((error: unknown) => {
      const problem = error instanceof Error ? error.message : String(error);
      throw new Error(`could not save checkpoint ${CLAIM_CHECKPOINT}: ${problem}`, { cause: error });
    });
  }

  /** Resolves when nothing is being written. */
  settled(): Promise<void> {
    return this.writing;
  }

  private async put(text: string): Promise<void> {
    const file = await open(`${this.path}.new`, 'w', 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${this.path}.new`, this.path);
  }

  private unusable(why: string): ActorletError {
    const what = `failed to get checkpoint ${CLAIM_CHECKPOINT}: ${why}`;
    const problem = `create ResourceClaim cache: GetOrCreate() on checkpoint state: ${what}`;
    return new ActorletError(nodeErrors.managerCheckpoint, { path: this.path, problem });
  }
}
