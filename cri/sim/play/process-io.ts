import type { ContainerFiles, ProcessUser } from './container-files.ts';

/** What a simulated process has to do with. */
export interface ProcessIo {
  readonly files: ContainerFiles;
  readonly user: ProcessUser;
  /** The pod's sysctls, by name with dots. */
  readonly sysctls: Readonly<Record<string, string>>;
  readonly privileged: boolean;
  /** A program that is setuid does not become its owner. */
  readonly noNewPrivileges: boolean;
  /** Resolves after so long, or never when the container ends meanwhile. */
  sleep(ms: number): Promise<void>;
}

/** Where a simulated program reads and writes. */
export interface Streams {
  readonly input: string;
  out(text: string): void;
  err(text: string): void;
}

/** One run of a simulated program. */
export interface ProgramCall {
  /** The program's own name and its arguments. */
  readonly argv: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  readonly io: ProcessIo;
  readonly streams: Streams;
}

/** A simulated program: gives its exit code. */
export type Program = (call: ProgramCall) => number | Promise<number>;
