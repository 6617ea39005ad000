import { exceeds } from '../eviction/ranking.ts';
import { moment, span } from '../values/spoken-time.ts';
import { candidateText, roughlyOf, spareText } from './amount-words.ts';
import type { PressureReport, RankingReport, SignalReport, ThresholdReport } from './pressure-report.ts';

/** So many pods of a ranking are named. */
const NAMED = 5;

/** A report as people read it; ends with a newline. */
export function pressureText(report: PressureReport, nodeName: string): string {
  const { at, seenAt, conditions, podsAt, victims } = report;
  const age = seenAt === null ? 'not looked at yet' : `looked at ${span(at - seenAt)} ago`;
  const state = conditions.length === 0 ? 'no pressure' : conditions.join(', ');
  const lines = [`${nodeName === '' ? 'the node' : nodeName} at ${moment(at)}, ${age}: ${state}`, ''];
  lines.push(...table(report.signals));
  for (const ranking of report.rankings) lines.push('', ...rankingLines(ranking, at - (podsAt ?? at)));
  if (podsAt === null)
    lines.push('', 'who would go first is not known yet: pods are measured a minute after the start');
  lines.push('', ...spareLines(report));
  for (const { namespace, name, signal } of victims)
    lines.push(`evicted, not ended yet: ${namespace}/${name} (${signal})`);
  return `${lines.join('\n')}\n`;
}

function table(signals: readonly SignalReport[]): string[] {
  const rows = [
    ['SIGNAL', 'AVAILABLE', 'MOVES', 'THRESHOLD', 'LEFT', 'MET'],
    ...signals.flatMap((each) => {
      const { signal, observed } = each;
      const seen =
        observed === null
          ? 'not known'
          : `${roughlyOf(signal, observed.available)} of ${roughlyOf(signal, observed.capacity)}`;
      const head = [signal, seen, speedText(each)];
      if (each.thresholds.length === 0) return [[...head, 'none', '', '']];
      return each.thresholds.map((threshold, i) => [
        ...(i === 0 ? head : ['', '', '']),
        ...thresholdCells(each, threshold),
      ]);
    }),
  ];
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, i) => cell.padEnd(widths[i] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function thresholdCells(each: SignalReport, threshold: ThresholdReport): string[] {
  const { kind, graceMs, quantity, left } = threshold;
  const limit = `${kind} ${quantity}${kind === 'soft' ? ` for ${span(graceMs)}` : ''}`;
  if (each.observed === null) return [limit, '', ''];
  return [limit, roughlyOf(each.signal, left), metText(threshold)];
}

/** When a threshold is met: `in 4 min 10 s`, `since 2026-01-31T12:00:00Z`, `no`. */
export function metText({ metSince, untilMs, left }: ThresholdReport): string {
  if (metSince !== null) return `since ${moment(metSince)}`;
  if (left < 0) return 'now';
  return untilMs === null || untilMs > 86_400_000 ? 'no' : `in ${span(untilMs)}`;
}

/** How fast a signal moves: `-12Mi/s`, `-90Ki/min`, `still`; '' when that is not known. */
export function speedText({ signal, speed, observed }: SignalReport): string {
  if (speed === null || observed === null) return '';
  // Slower than all there is in a month: noise.
  if (Math.abs(speed) < observed.capacity / 2_600_000) return 'still';
  const perSecond = Math.abs(speed) >= 1;
  const text = roughlyOf(signal, perSecond ? speed : speed * 60);
  return `${speed > 0 ? '+' : ''}${text}/${perSecond ? 's' : 'min'}`;
}

function rankingLines({ signals, resource, pods }: RankingReport, ageMs: number): string[] {
  const lines = [`who would go first for ${signals.join(', ')} (measured ${span(ageMs)} ago):`];
  if (pods.length === 0) lines.push('  no pods are active');
  pods.slice(0, NAMED).forEach((pod, i) => {
    const over = resource !== 'pids' && exceeds(pod) ? ': more than it asked for' : '';
    lines.push(`  ${i + 1}. ${candidateText(pod, resource)}${over}`);
  });
  if (pods.length > NAMED) lines.push(`  and ${pods.length - NAMED} more`);
  return lines;
}

function spareLines({ signals, spare, podsAt }: PressureReport): string[] {
  const byPlan = new Map<string, string[]>();
  for (const { signal, reclaim, thresholds } of signals) {
    if (reclaim.length === 0 || thresholds.length === 0) continue;
    const text = podsAt === null ? reclaim.join(' and ') : spareText(spare, reclaim);
    byPlan.set(text, [...(byPlan.get(text) ?? []), signal]);
  }
  return [...byPlan].map(([text, of]) => `before a pod goes for ${of.join(', ')} the node gives back ${text}`);
}
