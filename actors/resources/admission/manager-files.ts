import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { NODE_RESOURCES, groundOf, resourcesOf } from '../../../machines/admission/node-resources.ts';
import type { Managed } from '../../../machines/admission/resource-manager.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { nodeErrors } from '../../../machines/errors/node-errors.ts';
import type { ResourceState } from '../../../machines/resource-managers/admit-resources.ts';
import { CheckpointError } from '../../../machines/values/checkpoint-error.ts';
import { checkCpus } from '../../../machines/resource-managers/cpu/check-cpus.ts';
import {
  CPU_CHECKPOINT,
  cpuCheckpointText,
  readCpuCheckpoint,
} from '../../../machines/resource-managers/cpu/cpu-checkpoint.ts';
import { checkMemory } from '../../../machines/resource-managers/memory/check-memory.ts';
import {
  MEMORY_CHECKPOINT,
  memoryCheckpointText,
  readMemoryCheckpoint,
} from '../../../machines/resource-managers/memory/memory-checkpoint.ts';
import { bornResources } from '../../../machines/resource-managers/resource-ground.ts';
import type { ResourceRules } from '../../../machines/resource-managers/resource-ground.ts';
import { messageOf } from '../../../machines/values/message-of.ts';

/** Pause before what could not be written is tried again, ms. */
const RETRY_MS = 10_000;

/**
 * Kubelet's two checkpoints of who has which CPU and memory, `cpu_manager_state` and `memory_manager_state` in the root directory, so
 * that what was given stays given after a restart, and a kubelet may take over. Each is on disk before a pod hears of what it has.
 * One that cannot be written is tried again, and does not hold the pod up; kubelet writes it with what it gives away next.
 */
export class ManagerFiles {
  private readonly rootDir: string;
  private readonly rules: ResourceRules;
  private readonly log: Logger;
  private written: Record<string, string> = {};
  /** What is to stand in them. */
  private readonly wanted = new Map<string, string>();
  /** Those whose last try failed, which was logged: one line tells an outage. */
  private readonly failing = new Set<string>();
  private timer: NodeJS.Timeout | undefined;

  constructor(rootDir: string, rules: ResourceRules, log: Logger) {
    this.rootDir = rootDir;
    this.rules = rules;
    this.log = log;
  }

  /**
   * What an agent or a kubelet before this one gave away, as managers' states; a file that is not there is made.
   * @throws ActorletError NOD013 for a file that kubelet would not start with
   */
  read(): Managed {
    const { cpu, memory } = this.rules;
    const born = bornResources(this.rules, groundOf(this.rules));
    const ground = groundOf(this.rules).cpu;
    const cpus = this.found(CPU_CHECKPOINT, 'CPU', (text) => {
      const found = readCpuCheckpoint(text, cpu.policy);
      return ground === null ? null : checkCpus(ground, found);
    });
    const pages = this.found(MEMORY_CHECKPOINT, 'memory', (text) => {
      const found = readMemoryCheckpoint(text, memory.policy);
      return found === null || born.memory === null ? null : checkMemory(born.memory, found);
    });
    const state: ResourceState = { cpu: cpus ?? born.cpu, memory: pages ?? born.memory };
    this.writeState(state);
    return { [NODE_RESOURCES]: state.cpu === null && state.memory === null ? null : state };
  }

  /** Writes what has changed. */
  write(managed: Managed): void {
    this.writeState(resourcesOf(managed) ?? { cpu: null, memory: null });
  }

  private writeState({ cpu, memory }: ResourceState): void {
    this.put(CPU_CHECKPOINT, cpuCheckpointText(cpu));
    this.put(MEMORY_CHECKPOINT, memoryCheckpointText(memory));
  }

  private found<T>(name: string, manager: string, read: (text: string) => T): T | null {
    const path = join(this.rootDir, name);
    let text: string;
    try {
      text = readFileSync(path, 'utf8');
    } catch {
      return null;
    }
    this.written[name] = text;
    try {
      return read(text);
    } catch (error) {
      if (!(error instanceof CheckpointError)) throw error;
      const problem = `${manager} manager: could not restore state from checkpoint: ${error.message}`;
      throw new ActorletError(nodeErrors.managerCheckpoint, { path, problem });
    }
  }

  /** The agent ends: what could not be written is tried once more. */
  stop(): void {
    if (this.timer !== undefined) this.putAgain();
    this.close();
  }

  /** Nothing is tried any more. */
  close(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }

  private putAgain(): void {
    this.close();
    for (const [name, text] of this.wanted) this.put(name, text);
  }

  private put(name: string, text: string): void {
    this.wanted.set(name, text);
    if (this.written[name] === text) return;
    const path = join(this.rootDir, name);
    try {
      const file = openSync(`${path}.new`, 'w', 0o600);
      try {
        writeSync(file, text);
        fsyncSync(file);
      } finally {
        closeSync(file);
      }
      renameSync(`${path}.new`, path);
      this.written[name] = text;
      if (this.failing.delete(name)) this.log.info({ path }, 'Checkpoint is written again');
    } catch (error) {
      this.timer ??= setTimeout(() => this.putAgain(), RETRY_MS).unref();
      if (this.failing.has(name)) return;
      this.failing.add(name);
      const problem = messageOf(error);
      this.log.error({ err: new ActorletError(nodeErrors.checkpointUnwritten, { path, problem }) }, 'Checkpoint');
    }
  }
}
