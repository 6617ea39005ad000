import type { StepLine } from '../../inspector/inspector-api.ts';
import { dateTimeText, durationText, timeText } from '../model/clock-text.ts';
import { hasFailed } from '../model/lanes.ts';
import { leafOf, toneOf } from '../model/state-names.ts';
import { loadAround } from '../session/load-steps.ts';
import * as s from '../session/session.ts';
import { goTo } from '../session/travel.ts';
import { Empty } from './empty.tsx';
import { memo } from './memo.ts';
import { VirtualRows } from './virtual-rows.tsx';

const ROW = 28;

/** All steps, one line each. */
export function TimeLine() {
  void s.stepsVersion.value;
  if (s.total.value === 0)
    return (
      <Empty title={s.stepsError.value === '' ? 'No steps yet' : 'The steps could not be read'}>
        {s.stepsError.value}
      </Empty>
    );
  const active = s.index.value;
  const first = s.first.value;
  return (
    <VirtualRows
      id="steps"
      class="steps"
      role="listbox"
      label="Steps"
      count={s.total.value}
      rowHeight={ROW}
      active={active}
      rowId={(i) => `step-${String(i)}`}
      row={(i) => (
        <Row
          index={i}
          step={s.steps.store.at(i)}
          before={s.steps.store.at(i - 1)?.at}
          active={i === active}
          lost={i < first}
        />
      )}
      onMove={(i) => {
        s.playing.value = false;
        goTo(i);
      }}
      onWindow={({ start, end }) => {
        loadAround(start, end);
      }}
    />
  );
}

interface RowProps {
  index: number;
  step: StepLine | undefined;
  /** When the step before it was. */
  before: number | undefined;
  active: boolean;
  /** It is no longer in the journal. */
  lost: boolean;
}

const Row = memo(({ index, step, before, active, lost }: RowProps) => {
  if (step === undefined) {
    return (
      <div class="step" id={`step-${String(index)}`} role="option" aria-selected={false}>
        <span class="step-no mono quiet">{index + 1}</span>
        <span class="quiet">{lost ? 'no longer in the journal' : '…'}</span>
      </div>
    );
  }
  const moved = step.before !== step.after;
  const failed = hasFailed(step);
  return (
    <div
      id={`step-${String(index)}`}
      class="step"
      role="option"
      aria-selected={active}
      data-failed={failed}
      onClick={() => {
        s.playing.value = false;
        goTo(index);
      }}
    >
      <span class="step-no mono quiet">{index + 1}</span>
      <span class="step-at mono" title={dateTimeText(step.at)}>
        {timeText(step.at)}
      </span>
      <span class="step-gap mono quiet">
        {before === undefined ? '' : `+${durationText(Math.max(0, step.at - before))}`}
      </span>
      <span class="step-lane">
        <i class={`bar lane-${step.from}`} aria-hidden="true" />
        {step.from}
      </span>
      <span
        class="step-text"
        title={[step.message, step.summary, step.answers?.error, step.fault].filter(Boolean).join('\n')}
      >
        {failed && <b class="text-fail">✕ </b>}
        <span class="step-type mono">{step.message} </span>
        {step.summary === '' ? <span class="step-only mono">{step.message}</span> : step.summary}
        {failed && <span class="text-fail"> {step.fault ?? step.answers?.error ?? ''}</span>}
      </span>
      {moved && (
        <span class={`step-to mono text-${toneOf(step.after)}`} title={`${step.before} → ${step.after}`}>
          → {leafOf(step.after)}
        </span>
      )}
      {step.effects.length > 0 && (
        <span class="step-effects mono quiet" title={step.effects.map((e) => `${e.type} ${e.summary}`).join('\n')}>
          {step.effects.map((e, i) => (
            <i key={i} class={`tick lane-${e.to}`} aria-hidden="true" />
          ))}
          {step.effects.length}
        </span>
      )}
      {step.answers !== undefined && <span class="step-ms mono quiet">{durationText(step.answers.ms)}</span>}
    </div>
  );
});
