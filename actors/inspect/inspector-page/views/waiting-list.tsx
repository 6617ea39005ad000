import { useSignal } from '@preact/signals';
import type { Overview, WaitingPod } from '../../inspector/inspector-api.ts';
import { countText, dateTimeText, spanText } from '../model/clock-text.ts';
import { leafOf, toneOf } from '../model/state-names.ts';
import { overviewAt } from '../session/node-overview.ts';
import * as s from '../session/session.ts';
import { openPod } from '../session/travel.ts';
import { waitingWords } from '../session/waiting-words.ts';

/** So many are named at first: what is slow is to be seen below them. */
const FIRST = 5;

/** The pods that are not where they should be, longest first, with why. */
export function WaitingList({ told: { waiting, at } }: { told: Overview }) {
  const { pods, total } = waiting;
  const newest = overviewAt.value === null;
  const now = newest ? s.now.value : at;
  const all = useSignal(false);
  const rest = pods.length - FIRST;
  return (
    <section class="waiting" aria-label="What waits longest">
      <h3>
        Waits longest
        {total > 0 && <span class="quiet mono">{countText(total)}</span>}
        <span class="grow" />
        {rest > 0 && (
          <button
            type="button"
            class="small"
            aria-expanded={all.value}
            onClick={() => {
              all.value = !all.value;
            }}
          >
            {all.value ? 'Fewer' : `${String(rest)} more`}
          </button>
        )}
      </h3>
      {pods.length === 0 ? (
        <p class="quiet none">{s.pods.value.size === 0 ? 'There is no pod.' : 'Every pod is where it should be.'}</p>
      ) : (
        <ol>
          {pods.slice(0, all.value ? pods.length : FIRST).map((pod) => (
            <li key={pod.uid}>
              <Wait pod={pod} now={now} newest={newest} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Wait({ pod, now, newest }: { pod: WaitingPod; now: number; newest: boolean }) {
  const tone = toneOf(pod.state);
  const words = waitingWords.value.get(pod.uid);
  // Words of another moment would be wrong; what was said a moment ago of a pod that goes on is not.
  const told = words !== undefined && (newest || words.step === pod.step) ? words : undefined;
  const next = told?.next ?? null;
  return (
    <button
      type="button"
      class="row wait"
      title={told?.summary ?? pod.state}
      onClick={() => {
        openPod(pod.uid, newest || pod.step < 0 ? null : pod.step);
      }}
    >
      <i class={`dot tone-${tone}`} aria-hidden="true" />
      <span class="row-name mono">
        <span class="quiet">{pod.namespace}/</span>
        {pod.name}
      </span>
      <span class="row-end mono" title={`since ${dateTimeText(pod.since)}`}>
        {spanText(now - pod.since)}
      </span>
      <span class="row-why">
        <b class={`text-${tone}`}>{leafOf(pod.state)}</b> {told?.cause ?? pod.why}
        {next !== null && (
          <span class="quiet">
            {' '}
            · {next.what.split(',')[0]} {next.at > now ? `in ${spanText(next.at - now)}` : 'now'}
          </span>
        )}
      </span>
    </button>
  );
}
