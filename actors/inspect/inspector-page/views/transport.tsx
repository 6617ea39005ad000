import { useComputed } from '@preact/signals';
import { countText, dateTimeText, spanText } from '../model/clock-text.ts';
import { stripCells } from '../model/lanes.ts';
import { changeSpeed, togglePlay } from '../session/play.ts';
import * as s from '../session/session.ts';
import { goBy, goLive, goTo } from '../session/travel.ts';

const CELLS = 240;

/** The slider through all steps with what happened above it, and the buttons of the playback. */
export function Transport() {
  const index = s.index.value;
  const last = s.total.value - 1;
  const at = s.line.value?.at;
  const end = s.about.value?.mode === 'files' ? 'End' : 'Live';
  return (
    <section class="transport" aria-label="Moment">
      <div class="buttons">
        <button
          type="button"
          class="icon"
          onClick={() => {
            goBy(-1);
          }}
          disabled={index <= s.first.value}
          aria-label="One step back"
          title="One step back (←)"
        >
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path d="M10 3 5 8l5 5" class="line-shape" />
          </svg>
        </button>
        <button
          type="button"
          class="icon play"
          onClick={togglePlay}
          disabled={last < 1}
          aria-label={s.playing.value ? 'Pause' : 'Play'}
          title="Play, pause (Space)"
        >
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path d={s.playing.value ? 'M4 3h3v10H4zM9 3h3v10H9z' : 'M4.5 2.5v11l9-5.5z'} class="fill-shape" />
          </svg>
        </button>
        <button
          type="button"
          class="icon"
          onClick={() => {
            goBy(1);
          }}
          disabled={index >= last}
          aria-label="One step on"
          title="One step on (→)"
        >
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path d="m6 3 5 5-5 5" class="line-shape" />
          </svg>
        </button>
        <span class="speed" role="group" aria-label="Speed">
          <button
            type="button"
            class="icon"
            onClick={() => {
              changeSpeed(-1);
            }}
            aria-label="Slower"
            title="Slower (−)"
          >
            −
          </button>
          <output class="mono" aria-label="Speed">
            {s.speed.value}×
          </output>
          <button
            type="button"
            class="icon"
            onClick={() => {
              changeSpeed(1);
            }}
            aria-label="Faster"
            title="Faster (+)"
          >
            +
          </button>
        </span>
      </div>
      <div class="slider">
        <Strip />
        <input
          type="range"
          min={s.first.value}
          max={Math.max(0, last)}
          step={1}
          value={Math.max(0, index)}
          aria-label="Step"
          aria-valuetext={`step ${String(index + 1)} of ${String(last + 1)}${at === undefined ? '' : `, ${dateTimeText(at)}`}`}
          onInput={(event) => {
            s.playing.value = false;
            goTo(Number(event.currentTarget.value));
          }}
        />
      </div>
      <div class="where mono">
        <span>
          <b>{countText(Math.max(0, index + 1))}</b>
          <span class="quiet">/{countText(last + 1)}</span>
        </span>
        <span class="quiet" title={at === undefined ? '' : `${spanText(s.now.value - at)} ago`}>
          {at === undefined ? '…' : dateTimeText(at)}
        </span>
      </div>
      <button
        type="button"
        class="small live"
        aria-pressed={s.following.value}
        onClick={goLive}
        title="Follow the newest step (l)"
      >
        <i class="dot" aria-hidden="true" />
        {end}
      </button>
    </section>
  );
}

function Strip() {
  const cells = useComputed(() => {
    void s.stepsVersion.value;
    return stripCells(s.total.value, CELLS, (i) => s.steps.store.at(i));
  });
  const count = cells.value.length;
  return (
    <svg class="strip" viewBox={`0 0 ${String(Math.max(1, count))} 20`} preserveAspectRatio="none" aria-hidden="true">
      {cells.value.map((cell, i) => (
        <g key={i}>
          {cell.lane !== null && (
            <rect
              x={i}
              y={cell.moved ? 0 : 8}
              width={count > 120 ? 1 : 0.86}
              height={cell.moved ? 20 : 12}
              class={`lane-${cell.lane}`}
            />
          )}
          {cell.failed && <rect x={i} y={16} width={1} height={4} class="strip-failed" />}
        </g>
      ))}
    </svg>
  );
}
