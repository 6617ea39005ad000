import type { MachineMoment, Overview, StepLine } from '../../inspector/inspector-api.ts';
import { timeText, dateTimeText, spanText } from '../model/clock-text.ts';
import { leafOf, toneOf } from '../model/state-names.ts';
import { overviewAt } from '../session/node-overview.ts';
import * as s from '../session/session.ts';
import { openPod } from '../session/travel.ts';

/** The machines that there is one of, beside the node: what each heard last, in which state it is, and why. */
export function MachineList({ told: { machines, at } }: { told: Overview }) {
  const now = overviewAt.value === null ? s.now.value : at;
  return (
    <section class="singles" aria-label="Machines of the node">
      <h3>Machines of the node</h3>
      <ol>
        {machines.map((machine) => (
          <li key={machine.uid} data-machine={machine.uid}>
            <Machine machine={machine} now={now} />
          </li>
        ))}
      </ol>
    </section>
  );
}

function Machine({ machine: { uid, name, state, since, why, last }, now }: { machine: MachineMoment; now: number }) {
  const newest = last[0]?.index;
  return (
    <>
      <button
        type="button"
        class="row single"
        title={why === '' ? state : why}
        onClick={() => {
          openPod(uid, overviewAt.value === null ? null : (newest ?? null));
        }}
      >
        <i class={`dot tone-${toneOf(state)}`} aria-hidden="true" />
        <span class="row-name mono">{name}</span>
        <span class="row-end mono" title={`since ${dateTimeText(since)}`}>
          {spanText(now - since)}
        </span>
        <span class="row-why">
          <b>{leafOf(state)}</b> {why}
        </span>
      </button>
      <ol class="last">
        {last.map((step) => (
          <li key={step.index}>
            <Heard uid={uid} step={step} />
          </li>
        ))}
      </ol>
    </>
  );
}

/** One message and what came of it. */
function Heard({ uid, step: { index, at, message, summary, effects, fault } }: { uid: string; step: StepLine }) {
  const orders = effects.map((effect) => `${effect.type} ${effect.summary}`.trim()).join('; ');
  return (
    <button
      type="button"
      class="heard mono"
      title={`${message} ${summary}`}
      onClick={() => {
        openPod(uid, index);
      }}
    >
      <span class="quiet">{timeText(at)}</span> <b>{message}</b> {summary}
      {fault !== undefined && <span class="text-fail"> ✕ {fault}</span>}
      {orders !== '' && <span class="quiet"> → {orders}</span>}
    </button>
  );
}
