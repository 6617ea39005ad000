import type { Overview, SlowCall } from '../../inspector/inspector-api.ts';
import { dateTimeText, durationText, timeText } from '../model/clock-text.ts';
import { overviewAt } from '../session/node-overview.ts';
import * as s from '../session/session.ts';
import { openPod } from '../session/travel.ts';

/** The calls that took longest, and those that are still under way; each leads to its moment of its pod. */
export function SlowCalls({ told: { calls, at } }: { told: Overview }) {
  const newest = overviewAt.value === null && s.about.value?.mode === 'live';
  const lengthOf = (call: SlowCall) =>
    call.outcome === 'underWay' && newest ? Math.max(call.ms, s.now.value - call.at) : call.ms;
  const longest = Math.max(1, ...calls.map(lengthOf));
  return (
    <section class="calls" aria-label="Slowest calls">
      <h3>
        Slowest calls
        <span class="quiet mono">{overviewAt.value === null ? '' : `until ${timeText(at).slice(0, 8)}`}</span>
      </h3>
      {calls.length === 0 ? (
        <p class="quiet none">No call was made yet.</p>
      ) : (
        <ol>
          {calls.map((call) => (
            <li key={`${call.uid} ${call.type} ${String(call.step)}`}>
              <Call call={call} ms={lengthOf(call)} part={lengthOf(call) / longest} />
            </li>
          ))}
        </ol>
      )}
    </section>
  );
}

function Call({ call, ms, part }: { call: SlowCall; ms: number; part: number }) {
  const words = { done: '', failed: ' failed', underWay: ' is under way' }[call.outcome];
  return (
    <button
      type="button"
      class="row call"
      data-outcome={call.outcome}
      title={`${call.type} ${call.subject}${words}\nof ${call.namespace}/${call.name}\nasked for ${dateTimeText(call.at)}`}
      onClick={() => {
        openPod(call.uid, call.step);
      }}
    >
      <i class={`bar lane-${call.to}`} aria-hidden="true" />
      <span class="row-name mono">{call.type}</span>
      <span class="row-why mono">
        {call.name} <span class="call-subject">{call.subject}</span>
      </span>
      <span class="row-at mono quiet">{timeText(call.at).slice(0, 8)}</span>
      <span class="row-end mono">
        {call.outcome === 'failed' && <b class="text-fail">✕ </b>}
        {call.outcome === 'underWay' && <b class="text-wait">… </b>}
        {durationText(ms)}
      </span>
      <i class={`length lane-${call.to}`} style={{ width: `${(part * 100).toFixed(1)}%` }} aria-hidden="true" />
    </button>
  );
}
