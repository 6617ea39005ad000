import { factsMatch } from './glob.ts';
import type { Facts } from './glob.ts';
import { KeyedCounts } from './keyed-counts.ts';
import { draw, drawBetween } from './prng.ts';
import type { FaultRule, SimPlan } from './script.ts';

/** A rule with what it has counted. */
interface Counted {
  readonly rule: FaultRule;
  readonly index: number;
  readonly live: boolean;
  readonly seen: KeyedCounts;
  readonly hits: KeyedCounts;
  readonly drawn: KeyedCounts;
}

/** Decides which calls fail or hang, and how long each takes. */
export class FaultRules {
  readonly #plan: SimPlan;
  readonly #seed: number;
  readonly #age: () => number;
  readonly #paced = new KeyedCounts();
  #rules: Counted[];

  /** @param age how long it is since the script's time zero, ms */
  constructor(plan: SimPlan, seed: number, age: () => number) {
    this.#plan = plan;
    this.#seed = seed;
    this.#age = age;
    this.#rules = plan.faults.map((rule, index) => counted(rule, index, false));
  }

  /** The fault that hits this call now, if any; counts it. */
  take(facts: Facts, phase: FaultRule['phase']): FaultRule | undefined {
    for (const each of this.#rules) {
      const { rule } = each;
      if (rule.phase !== phase || !this.#holdsNow(rule) || !factsMatch(rule.match, facts)) continue;
      const key = scopeKey(rule, facts);
      if (each.seen.next(key) < rule.skip) continue;
      if (rule.times !== undefined && each.hits.get(key) >= rule.times) continue;
      if (!this.#chosen(each, facts)) continue;
      each.hits.next(key);
      return rule;
    }
    return undefined;
  }

  /** How long the call takes, ms, by the first delay rule that fits; 0 without one. */
  duration(facts: Facts): number {
    for (const [index, rule] of this.#plan.delays.entries()) {
      if (!factsMatch(rule.match, facts)) continue;
      const { min, max } = rule.takes;
      if (min === max) return min;
      const subject = subjectKey(facts);
      return drawBetween(rule.takes, this.#seed, 'delay', index, subject, this.#paced.next(`${index}/${subject}`));
    }
    return 0;
  }

  /** True when no rule can touch any call. */
  get idle(): boolean {
    return this.#rules.length === 0 && this.#plan.delays.length === 0;
  }

  /** Adds a rule that beats the script's. */
  addLive(rule: FaultRule): void {
    this.#rules.unshift(counted(rule, -1 - this.#rules.length, true));
  }

  /** Takes back the rules added live, of one kind. */
  dropLive(kind: 'hang' | 'fail'): void {
    this.#rules = this.#rules.filter((each) => !each.live || each.rule[kind] === undefined);
  }

  #holdsNow(rule: FaultRule): boolean {
    if (rule.during === undefined) return true;
    const now = this.#age();
    return now >= rule.during.from && (rule.during.for === undefined || now < rule.during.from + rule.during.for);
  }

  #chosen(each: Counted, facts: Facts): boolean {
    if (each.rule.probability >= 1) return true;
    const subject = subjectKey(facts);
    return draw(this.#seed, 'fault', each.index, subject, each.drawn.next(subject)) < each.rule.probability;
  }
}

function counted(rule: FaultRule, index: number, live: boolean): Counted {
  return { rule, index, live, seen: new KeyedCounts(), hits: new KeyedCounts(), drawn: new KeyedCounts() };
}

function scopeKey(rule: FaultRule, facts: Facts): string {
  if (rule.per === 'rule') return '';
  const pod = `${facts.namespace}/${facts.pod}`;
  return rule.per === 'pod' ? pod : `${pod}/${facts.container}`;
}

function subjectKey(facts: Facts): string {
  return `${facts.rpc}/${facts.namespace}/${facts.pod}/${facts.container}/${facts.image}`;
}
