import { useSignal } from '@preact/signals';
import type { Overview } from '../../inspector/inspector-api.ts';
import { countText, dateTimeText, spanText } from '../model/clock-text.ts';
import { areaPaths, BAND_NAMES, bandCounts, BANDS, mostPods } from '../model/fleet-areas.ts';
import { spanAt, spanEnd, spanEnds } from '../model/span-place.ts';
import { timeTicks } from '../model/time-ticks.ts';
import { goBySpans, goToMoment, goToSpan } from '../session/node-travel.ts';
import { overviewAt } from '../session/node-overview.ts';
import * as s from '../session/session.ts';

/** Units of the drawing, which is stretched to its place. */
const WIDE = 1000;
const TALL = 112;
/** Part of the width within which a time at either end would be cut. */
const EDGE = 0.045;

/** A slider of milliseconds would go by one of them: keys go by spans of time. */
const KEYS: Record<string, (length: number) => void> = {
  ArrowLeft: () => {
    goBySpans(-1);
  },
  ArrowRight: () => {
    goBySpans(1);
  },
  PageUp: (length) => {
    goBySpans(-Math.ceil(length / 10));
  },
  PageDown: (length) => {
    goBySpans(Math.ceil(length / 10));
  },
  Home: () => {
    goToSpan(0);
  },
  End: () => {
    goToMoment(null);
  },
};

/** How many pods were in which kind of state over time; the slider in it goes to a moment of that. */
export function FleetChart({ told }: { told: Overview }) {
  const hovered = useSignal(-1);
  const { history, from } = told;
  const live = s.about.value?.mode === 'live';
  const to = Math.max(from + 1, told.to, live ? s.now.value : 0);
  const chosen = spanAt(history, overviewAt.value);
  const shown = hovered.value >= 0 && hovered.value < history.length ? hovered.value : chosen;
  const counts = bandCounts(history);
  const ends = spanEnds(history, from, to, WIDE);
  const paths = areaPaths(counts, ends, { height: TALL, thin: 2 });
  const at = shown === history.length - 1 ? to : spanEnd(history, shown);
  const percent = (moment: number) => `${(((moment - from) / (to - from)) * 100).toFixed(3)}%`;
  const placeOf = (number: number) => `${((ends[number] ?? WIDE) / WIDE) * 100}%`;
  return (
    <section class="fleet" aria-label="Pods by state over time">
      <div class="fleet-head">
        <h3>Pods over time</h3>
        <ul class="fleet-legend" aria-live="off">
          {BANDS.toReversed().map((tone) => (
            <li key={tone} data-tone={tone} data-none={counts[tone][shown] === 0}>
              <i class={`dot tone-${tone}`} aria-hidden="true" />
              {BAND_NAMES[tone]} <b class="mono">{countText(counts[tone][shown] ?? 0)}</b>
            </li>
          ))}
        </ul>
        <span class="fleet-at mono quiet" title={`${spanText(to - at)} before the end`}>
          {dateTimeText(at).slice(0, 19)}
        </span>
        <button
          type="button"
          class="small live"
          aria-pressed={overviewAt.value === null}
          onClick={() => {
            goToMoment(null);
          }}
          title="Follow the newest moment (l)"
        >
          <i class="dot" aria-hidden="true" />
          {live ? 'Live' : 'End'}
        </button>
      </div>
      <div class="fleet-plot">
        <span class="fleet-most mono quiet">{countText(mostPods(counts, history.length))}</span>
        <svg viewBox={`0 0 ${String(WIDE)} ${String(TALL)}`} preserveAspectRatio="none" aria-hidden="true">
          {BANDS.map((tone) => {
            const d = paths.get(tone);
            return d === undefined ? null : <path key={tone} d={d} class={`band tone-${tone}`} data-tone={tone} />;
          })}
        </svg>
        {hovered.value >= 0 && <i class="fleet-hover" style={{ left: placeOf(shown) }} aria-hidden="true" />}
        {overviewAt.value !== null && (
          <>
            <i class="fleet-after" style={{ left: placeOf(chosen) }} aria-hidden="true" />
            <i class="fleet-cursor" style={{ left: placeOf(chosen) }} aria-hidden="true" />
          </>
        )}
        <input
          type="range"
          min={from}
          max={to}
          step={1}
          value={overviewAt.value ?? to}
          aria-label="Moment of the node"
          aria-valuetext={`${dateTimeText(at)}: ${BANDS.map((tone) => `${String(counts[tone][shown] ?? 0)} ${BAND_NAMES[tone]}`).join(', ')}`}
          onInput={(event) => {
            goToSpan(spanAt(history, Number(event.currentTarget.value)));
          }}
          onKeyDown={(event) => {
            const move = KEYS[event.key];
            if (move === undefined) return;
            event.preventDefault();
            move(history.length);
          }}
          onPointerMove={(event) => {
            const box = event.currentTarget.getBoundingClientRect();
            hovered.value = spanAt(history, from + ((event.clientX - box.left) / box.width) * (to - from));
          }}
          onPointerLeave={() => {
            hovered.value = -1;
          }}
        />
      </div>
      <div class="fleet-axis mono quiet" aria-hidden="true">
        {timeTicks(from, to, 7, new Date(to).getTimezoneOffset())
          .filter((tick) => tick.at - from > EDGE * (to - from) && to - tick.at > EDGE * (to - from))
          .map((tick) => (
            <span key={tick.at} style={{ left: percent(tick.at) }}>
              {tick.text}
            </span>
          ))}
      </div>
    </section>
  );
}
