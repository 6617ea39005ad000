import type { Logger } from 'pino';
import type { CallOptions } from '../../../cri/client/call.ts';
import { isCriError } from '../../../cri/client/cri-error.ts';
import type { RuntimeCalls } from '../../../cri/client/methods.ts';
import { ContainerState } from '../../../cri/generated/runtime/v1/api.ts';

/** What logs need of a `CriClient`. */
export interface LogRuntime {
  runtime: Pick<RuntimeCalls<CallOptions>, 'containerStatus' | 'listContainers'>;
}

const ASK_MS = 1000;
/** With more containers than that, one list of the running ones costs less than a question for each. */
const MOST_SINGLE_QUESTIONS = 8;

/** Is told that a container runs no more; with the error when the runtime would not say. */
export type Ended = (error?: Error) => void;

/**
 * Tells followers of logs when their containers end. The runtime is asked once a second for all followers together, so
 * that hundreds of them cost it no more than one.
 */
export class RunningContainers {
  readonly #cri: LogRuntime;
  readonly #log: Logger;
  readonly #followers = new Map<string, Set<Ended>>();
  #timer: NodeJS.Timeout | undefined;
  #asking = false;

  constructor(cri: LogRuntime, log: Logger) {
    this.#cri = cri;
    this.#log = log;
  }

  /**
   * Does the container run? An unreachable runtime says nothing about its containers: then true. One that was removed
   * has ended. Rejects with what else the runtime says.
   */
  async isRunning(id: string): Promise<boolean> {
    try {
      const { status } = await this.#cri.runtime.containerStatus({ containerId: id });
      if (status === undefined) throw new Error('container status is nil');
      return status.state === ContainerState.CONTAINER_RUNNING;
    } catch (error) {
      if (isCriError(error, 'Unavailable')) return true;
      if (isCriError(error, 'NotFound')) return false;
      throw error;
    }
  }

  /** Calls `ended` once when the container has ended; returns what stops the watch. */
  watch(id: string, ended: Ended): () => void {
    let followers = this.#followers.get(id);
    if (followers === undefined) this.#followers.set(id, (followers = new Set()));
    followers.add(ended);
    this.#timer ??= setInterval(() => void this.#ask(), ASK_MS).unref();
    return () => {
      const known = this.#followers.get(id);
      known?.delete(ended);
      if (known?.size === 0) this.#followers.delete(id);
      if (this.#followers.size > 0) return;
      clearInterval(this.#timer);
      this.#timer = undefined;
    };
  }

  async #ask(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    try {
      const ids = await this.#suspects();
      await Promise.all(ids.map((id) => this.#askFor(id)));
    } catch (error) {
      this.#log.debug({ err: error }, 'Cannot list running containers for followed logs');
    } finally {
      this.#asking = false;
    }
  }

  /** Containers that may have ended. */
  async #suspects(): Promise<string[]> {
    const ids = [...this.#followers.keys()];
    if (ids.length <= MOST_SINGLE_QUESTIONS) return ids;
    const state = ContainerState.CONTAINER_RUNNING;
    const { containers } = await this.#cri.runtime.listContainers({ filter: { state: { state } } });
    const running = new Set(containers.map((container) => container.id));
    return ids.filter((id) => !running.has(id));
  }

  async #askFor(id: string): Promise<void> {
    let error: Error | undefined;
    try {
      if (await this.isRunning(id)) return;
    } catch (cause) {
      error = cause instanceof Error ? cause : new Error(String(cause));
    }
    const followers = this.#followers.get(id);
    for (const ended of [...(followers ?? [])]) ended(error);
  }
}
