import type { Cause, Explanation } from '../../../../machines/explain/explanation.ts';
import { dateTimeText, spanText } from '../model/clock-text.ts';
import * as s from '../session/session.ts';
import { Empty } from './empty.tsx';

function isExplanation(value: unknown): value is Explanation {
  return (
    typeof value === 'object' &&
    value !== null &&
    'summary' in value &&
    'causes' in value &&
    Array.isArray(value.causes)
  );
}

/** The one line of an explanation; '' for what is none. */
export function explainSummary(value: unknown): string {
  return isExplanation(value) ? value.summary : '';
}

/** Why the pod is in this state at the shown moment: the chain of causes, nearest first. */
export function ExplainView() {
  const told = s.explanation.value;
  if (told === null || !isExplanation(told.value)) {
    return <Empty title="No explanation for this moment">The server has none to give.</Empty>;
  }
  const { summary, causes, next, now } = told.value;
  return (
    <div class="explain" tabIndex={0} data-stale={told.index !== s.index.value}>
      <p class="explain-summary">{summary}</p>
      <ol class="causes">
        {causes.map((cause, i) => (
          <CauseRow key={i} cause={cause} now={now} />
        ))}
      </ol>
      {next !== undefined && (
        <p class="explain-next">
          <b>Next:</b> {next.what}{' '}
          <span class="mono quiet">
            {next.at > now ? `in ${spanText(next.at - now)}` : 'due'}, {dateTimeText(next.at)}
          </span>
        </p>
      )}
    </div>
  );
}

function CauseRow({ cause, now }: { cause: Cause; now: number }) {
  return (
    <li>
      <span class="cause-kind">{cause.kind}</span>
      <span class="cause-text">{cause.text}</span>
      <span class="mono quiet" title={cause.at === 0 ? '' : dateTimeText(cause.at)}>
        {cause.at === 0 ? '' : `${spanText(now - cause.at)} ago`}
      </span>
    </li>
  );
}
