import type { SoakResult } from './run-soak.ts';
import { JUDGED_MINUTES, LIMITS, wordFor } from './verdict.ts';

/** True when every rule held and nothing is left or grows. */
export function isWell(result: SoakResult): boolean {
  const { violations, unfinished, left, growing, replay } = result;
  return [violations, unfinished, left, growing].every((list) => list.length === 0) && replay.identical;
}

/** The result as text for a person. */
export function reportText(result: SoakResult, when: Date): string {
  const { minutes, seed, created, deleted, kills, longestOutage, judged, trends, replay } = result;
  const lines = [
    `bin/soak --minutes ${minutes} --seed ${seed}, ended ${when.toISOString()}`,
    `${created} pods created, ${deleted} deleted`,
    '',
    ...table([
      ['killed', 'times', 'longest until all answered, s'],
      ...Object.entries(kills).map(([who, times]) => [
        who,
        String(times),
        String(longestOutage[who as keyof typeof longestOutage]),
      ]),
    ]),
    '',
    ...table([
      ['rule', 'judged', 'broken'],
      ...Object.entries(judged).map(([rule, times]) => [
        rule,
        String(times),
        String(result.violations.filter((v) => v.rule === rule).length),
      ]),
    ]),
    '',
    ...table([
      ['series', 'first', 'last', 'most', 'an hour', '± 2 s.e.', 'limit', 'over minutes', 'verdict'],
      ...Object.entries(trends).flatMap(([name, trend]) =>
        trend === null
          ? []
          : [
              [
                name,
                ...[trend.first, trend.last, trend.most].map(String),
                ...[trend.perHour, trend.error, LIMITS[name] ?? null].map((n) => (n === null ? '-' : String(n))),
                String(trend.minutes),
                minutes < JUDGED_MINUTES ? 'run too short' : wordFor(name, trend),
              ],
            ],
      ),
    ]),
    '',
    `journal replay: ${replay.said}`,
    ...section(
      'rules that did not hold',
      result.violations.map((v) => `${v.rule}: ${v.what}`),
    ),
    ...section('pods that did not become what they were to be', result.unfinished),
    ...section('left when all pods were deleted', result.left),
    ...section('refused by containerd until it was started again', result.refused),
    ...section("left by containerd itself, unknown to CRI (no failure of the agent's)", result.leftByRuntime),
    ...section('growing', result.growing),
    '',
    isWell(result) ? 'verdict: well' : 'verdict: NOT WELL',
  ];
  return `${lines.join('\n')}\n`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  return rows.map((row) =>
    row.map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0))).join('  '),
  );
}
