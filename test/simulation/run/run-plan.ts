import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createHash } from 'node:crypto';
import { Replayer } from '../../../actors/record/journal/replay.ts';
import type { Plan } from '../draw/plan.ts';
import { Book } from '../invariants/book.ts';
import { rules } from '../invariants/rules.ts';
import type { Fact } from '../world/facts.ts';
import { listenToPlaces } from '../world/watched-places.ts';
import { World } from '../world/world.ts';
import { Coverage } from './coverage.ts';

/** A rule that was broken, and when. */
export interface Violation {
  rule: string;
  problem: string;
  /** Ms since the start. */
  at: number;
}

/** What came of a run. */
export interface RunResult {
  violations: Violation[];
  coverage: Coverage;
  /** Virtual ms. */
  virtualMs: number;
  events: number;
  messages: number;
  /** SHA-256 of all journals' bytes. */
  digest: string;
  /** The pods at the end, in words that do not depend on exact times. */
  outcome: string[];
  journals: string[];
}

/** How a run is made. */
export interface RunOptions {
  dir: string;
  jumps?: boolean;
  replay?: boolean;
  /** Go on after a rule was broken; otherwise the run ends there. */
  goOn?: boolean;
  /** Hears of each fact, with the ms since the start. */
  onFact?: (fact: Fact, at: number) => void;
}

/** Runs a plan in this thread, from its first to its last virtual moment. */
export function runPlan(plan: Plan, options: RunOptions): RunResult {
  const violations: Violation[] = [];
  const coverage = new Coverage();
  const listeners: ((fact: Fact) => void)[] = [];
  const world = new World({
    plan,
    dir: options.dir,
    jumps: options.jumps,
    onFact: (fact) => {
      options.onFact?.(fact, world.time.now);
      book.take(fact);
      for (const listener of listeners) listener(fact);
    },
    onViolation: (rule, problem, { time }) => {
      violations.push({ rule, problem, at: time.now });
      if (options.goOn !== true) time.stop();
    },
  });
  const book = new Book(world);
  const ends: (() => void)[] = [];
  for (const rule of rules) {
    const { on, end } = rule.begin({ world, book, say: (problem) => world.violation(rule.name, problem) });
    if (on !== undefined) listeners.push(on);
    if (end !== undefined) ends.push(end);
  }
  listenToPlaces((machine, from, event, to) => {
    const unreached = coverage.move(machine, from, to);
    if (unreached !== null)
      world.violation('no machine makes a move that no run is to come to', `${unreached}, by ${event}`);
  });
  try {
    world.run(() => {
      if (violations.length === 0 || options.goOn === true) for (const end of ends) end();
    });
  } catch (error) {
    world.violation(
      'the run comes to its end',
      error instanceof Error ? (error.stack ?? error.message) : String(error),
    );
  } finally {
    listenToPlaces(null);
  }
  const journals = world.journals.filter((dir) => existsSync(dir));
  let messages = 0;
  if (options.replay !== false)
    for (const dir of journals) {
      const replayed = replayJournal(dir);
      messages += replayed.messages;
      if (replayed.problem !== null)
        world.violation('every journal replays identically', `${dir}: ${replayed.problem}`);
    }
  for (const [kind, count] of world.faults.struck) coverage.faults.set(kind, count);
  return {
    violations,
    coverage,
    virtualMs: world.time.now,
    events: world.time.events,
    messages,
    digest: digestOf(journals),
    outcome: world.outcome,
    journals,
  };
}

/** Files of a journal, those of each part in order. */
function filesOf(dir: string): string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.jsonl'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

function replayJournal(dir: string): { messages: number; problem: string | null } {
  const replayer = new Replayer();
  for (const file of filesOf(dir)) {
    let line = 0;
    for (const text of readFileSync(file, 'utf8').split('\n')) {
      line++;
      if (text === '') continue;
      try {
        const difference = replayer.takeText(file, line, text);
        if (difference !== null)
          return { messages: replayer.result(null).messages, problem: JSON.stringify(difference).slice(0, 2_000) };
      } catch (error) {
        return { messages: 0, problem: `${file}, line ${line}: ${String(error)}` };
      }
    }
  }
  return { messages: replayer.result(null).messages, problem: null };
}

function digestOf(journals: readonly string[]): string {
  const hash = createHash('sha256');
  for (const dir of journals) for (const file of filesOf(dir)) hash.update(readFileSync(file));
  return hash.digest('hex');
}
