/** What a CSI driver of a test can be told to do wrong. */
import { readFileSync } from 'node:fs';
import type { ServiceError } from '@grpc/grpc-js';

/** One fault: with `hang` the call is never answered; else it fails with this gRPC code, after it worked (`after`) or in place of it. */
export interface Fault {
  hang?: boolean;
  /** gRPC's number. */
  code?: number;
  text?: string;
  after?: boolean;
  /** How many calls it meets; all when absent. */
  times?: number;
}

/** Faults by method, of this process or (so that another one can be told) of a file with the same as JSON. */
export class Faults {
  private readonly given = new Map<string, Fault>();
  private readonly file: string | undefined;
  private readonly met = new Map<string, number>();

  constructor(file?: string) {
    this.file = file;
  }

  set(method: string, fault: Fault | null): void {
    this.met.delete(method);
    if (fault === null) this.given.delete(method);
    else this.given.set(method, fault);
  }

  /** The fault that a call of the method meets now. */
  meet(method: string): Fault | null {
    const fault = this.given.get(method) ?? this.fromFile()[method];
    if (fault === undefined) return null;
    const met = this.met.get(method) ?? 0;
    if (fault.times !== undefined && met >= fault.times) return null;
    this.met.set(method, met + 1);
    return fault;
  }

  private fromFile(): Record<string, Fault> {
    if (this.file === undefined) return {};
    try {
      return JSON.parse(readFileSync(this.file, 'utf8')) as Record<string, Fault>;
    } catch {
      return {};
    }
  }
}

/** A failure of a call, as grpc-js wants it. */
export class Refusal extends Error implements Partial<ServiceError> {
  readonly code: number;
  readonly details: string;

  constructor(code: number, details: string) {
    super(details);
    this.code = code;
    this.details = details;
  }
}
