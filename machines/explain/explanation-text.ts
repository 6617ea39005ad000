import type { Explanation } from './explanation.ts';
import { nextText } from './explain-pod.ts';
import { moment, span } from '../values/spoken-time.ts';

/** An explanation as people read it; ends with a newline. */
export function explanationText(explanation: Explanation): string {
  const { pod, summary, causes, next, now } = explanation;
  const kinds = Math.max(...causes.map((cause) => cause.kind.length));
  const ages = causes.map(({ at }) => (at === 0 ? '' : `${span(now - at)} ago`));
  const width = Math.max(...ages.map((age) => age.length));
  const lines = [
    `${pod.namespace}/${pod.name} (${pod.uid})`,
    `  ${summary}`,
    '',
    `causes, nearest first, as of ${moment(now)}:`,
  ];
  causes.forEach(({ at, kind, text }, i) => {
    const when = (at === 0 ? '' : moment(at)).padEnd(20);
    lines.push(`  ${when}  ${(ages[i] ?? '').padEnd(width)}  ${kind.padEnd(kinds)}  ${text}`);
  });
  if (next !== undefined) lines.push('', `next: ${nextText(next.what, next.at, now)} (${moment(next.at)})`);
  return `${lines.join('\n')}\n`;
}
