/** A rule that did not hold. */
export interface Violation {
  rule: string;
  what: string;
}

/** What was found, each finding once, and how often each rule was asked: a rule that was never asked finds nothing. */
export class Findings {
  readonly violations: Violation[] = [];
  readonly judged: Record<string, number> = {};
  private readonly told = new Set<string>();

  /** The rule is asked; `broken` says what did not hold, null when it holds. */
  judge(rule: string, broken: string | null): void {
    this.judged[rule] = (this.judged[rule] ?? 0) + 1;
    if (broken === null) return;
    const key = `${rule}: ${broken}`;
    if (this.told.has(key)) return;
    this.told.add(key);
    this.violations.push({ rule, what: broken });
  }
}
