import { amountText, isHard } from '../eviction/thresholds.ts';
import { resourceOf } from '../eviction/signals.ts';
import { moment, span } from '../values/spoken-time.ts';
import { candidateText, roughlyOf } from './amount-words.ts';
import type { SupposedEviction, WhatIf } from './what-if.ts';

/** What other settings would have come to, as people read it; ends with a newline. */
export function whatIfText({ from, to, would, was, conditions }: WhatIf, changes: readonly string[]): string {
  const lines = [
    `from ${moment(from)} to ${moment(to)} (${span(to - from)}), with ${changes.join(', ')}:`,
    `${pods(would.length)} would have gone; ${pods(was.length)} went`,
    ...would.map((each) => `  ${evictionText(each)}`),
  ];
  for (const { at, conditions: now } of conditions)
    lines.push(
      `  ${moment(at)}  the node would have told ${now.length === 0 ? 'no pressure any more' : now.join(', ')}`,
    );
  if (was.length > 0) lines.push('as it was:', ...was.map((each) => `  ${evictionText(each)}`));
  return `${lines.join('\n')}\n`;
}

function pods(count: number): string {
  return count === 1 ? '1 pod' : `${count} pods`;
}

function evictionText({ at, namespace, name, signal, short }: SupposedEviction): string {
  if (short === null) return `${moment(at)}  ${namespace}/${name} (${signal})`;
  const { threshold, observed, candidate } = short;
  const { capacity, available } = observed;
  const seen = `${roughlyOf(threshold.signal, available)} of ${roughlyOf(threshold.signal, capacity)}`;
  const limit = `${amountText(threshold.value, capacity)} (${isHard(threshold) ? 'hard' : 'soft'})`;
  const who = candidateText(candidate, resourceOf(threshold.signal));
  return `${moment(at)}  ${who} for ${threshold.signal}: ${seen}, less than ${limit}`;
}
