import type { RuntimeSettings } from './script.ts';

/** A condition of CRI's RuntimeStatus. */
export type ConditionName = 'RuntimeReady' | 'NetworkReady';

/** What is wrong with a condition. */
export interface NotReady {
  reason: string;
  message: string;
}

/** Whether runtime and network are ready: by the script's windows, or as a test has set it. */
export class Readiness {
  readonly #windows: RuntimeSettings['notReady'];
  readonly #age: () => number;
  readonly #set = new Map<ConditionName, NotReady | null>();

  /** @param age how long the runtime has been there, ms */
  constructor(windows: RuntimeSettings['notReady'], age: () => number) {
    this.#windows = windows;
    this.#age = age;
  }

  /** Undefined when the condition holds. */
  problem(condition: ConditionName): NotReady | undefined {
    const set = this.#set.get(condition);
    if (set !== undefined) return set ?? undefined;
    const now = this.#age();
    return this.#windows.find(
      (window) =>
        window.condition === condition &&
        now >= window.from &&
        (window.for === undefined || now < window.from + window.for),
    );
  }

  /** Beats the script; `null` = ready, undefined = what the script says. */
  set(condition: ConditionName, problem: NotReady | null | undefined): void {
    if (problem === undefined) this.#set.delete(condition);
    else this.#set.set(condition, problem);
  }
}
