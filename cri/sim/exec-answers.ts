import { anyMatches, factsMatch } from './glob.ts';
import type { ContainerRecord } from './records.ts';
import { containerFacts } from './call-facts.ts';
import type { ExecBehaviour, ExecResult, SimMatch } from './script.ts';

/** An answer a test has set, and for which containers. */
export interface LiveExec {
  match: SimMatch;
  behaviour: ExecBehaviour;
}

/** Finds the scripted answer to a command. */
export class ExecAnswers {
  readonly #live: LiveExec[] = [];

  /** Answers set later beat those set earlier and the script's. */
  add(live: LiveExec): void {
    this.#live.unshift(live);
  }

  /** The answer to this run of the command; undefined when nothing is scripted. Counts the run. */
  next(record: ContainerRecord, command: readonly string[]): ExecResult | undefined {
    const behaviour = this.#find(record, command.join(' '));
    if (behaviour === undefined) return undefined;
    record.execCounts ??= new Map();
    const count = record.execCounts.get(behaviour) ?? 0;
    record.execCounts.set(behaviour, count + 1);
    let upTo = 0;
    for (const result of behaviour.results) {
      upTo += result.times;
      if (count < upTo) return result;
    }
    return behaviour.results.at(-1);
  }

  #find(record: ContainerRecord, command: string): ExecBehaviour | undefined {
    if (this.#live.length > 0) {
      const facts = containerFacts('ExecSync', record);
      const live = this.#live.find(
        (each) => factsMatch(each.match, facts) && anyMatches(each.behaviour.command, command),
      );
      if (live !== undefined) return live.behaviour;
    }
    return record.behaviour.exec.find((each) => anyMatches(each.command, command));
  }
}
