import { useComputed } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Lane, StepLine } from '../../inspector/inspector-api.ts';
import { durationText, timeText } from '../model/clock-text.ts';
import { lanesOf } from '../model/lanes.ts';
import { RowHeights, scrollFor } from '../model/row-window.ts';
import type { Activation, Arrow } from '../model/sequence.ts';
import { activations, ARROW_HEIGHT, arrowsOf, heightOf, STEP_PADDING } from '../model/sequence.ts';
import { leafOf, toneOf } from '../model/state-names.ts';
import { BLOCK } from '../model/step-store.ts';
import { loadAround } from '../session/load-steps.ts';
import * as s from '../session/session.ts';
import { goTo } from '../session/travel.ts';
import { Empty } from './empty.tsx';
import { memo } from './memo.ts';

/** Px left of the lanes for number and time. */
const LEFT = 92;
/** Least px between two lanes. */
const NARROWEST = 42;
/** From this gap on the lanes' names fit whole. */
const ROOMY = 60;
const SHORT_NAMES: Partial<Record<Lane, string>> = { supervisor: 'superv.', network: 'net' };
const GUESS = STEP_PADDING + 2 * ARROW_HEIGHT;

/** Steps as a sequence diagram: one column for each party, an arrow for each message and effect. */
export function SequenceView() {
  if (s.total.value === 0) return <Empty title="No steps yet">{s.stepsError.value}</Empty>;
  return <Diagram />;
}

function Diagram() {
  const box = useRef<HTMLDivElement>(null);
  const [frame, setFrame] = useState({ top: 0, height: 600, width: 800 });
  const heights = useComputed(() => {
    void s.stepsVersion.value;
    const made = new RowHeights(BLOCK, GUESS);
    made.measure(s.total.value, (block) => {
      const first = block * BLOCK;
      const end = Math.min(first + BLOCK, s.total.value);
      if (s.steps.store.at(Math.max(first, s.first.value)) === undefined) return null;
      const rows: number[] = [];
      for (let i = first; i < end; i++) {
        const step = s.steps.store.at(i);
        rows.push(step === undefined ? GUESS : heightOf(step));
      }
      return rows;
    });
    return made;
  }).value;
  const lanes = useComputed(() => {
    void s.stepsVersion.value;
    return lanesOf(s.steps.store.loaded());
  }).value;
  const index = s.index.value;

  useEffect(() => {
    const el = box.current;
    if (el === null) return;
    const look = () => {
      setFrame((f) =>
        f.top === el.scrollTop && f.height === el.clientHeight && f.width === el.clientWidth
          ? f
          : { top: el.scrollTop, height: el.clientHeight, width: el.clientWidth },
      );
    };
    const observer = new ResizeObserver(look);
    observer.observe(el);
    el.addEventListener('scroll', look, { passive: true });
    look();
    return () => {
      observer.disconnect();
      el.removeEventListener('scroll', look);
    };
  }, []);
  useLayoutEffect(() => {
    const el = box.current;
    if (el === null || index < 0) return;
    const to = scrollFor(el.scrollTop, el.clientHeight - 32, heights.topOf(index), heights.topOf(index + 1));
    if (to !== el.scrollTop) el.scrollTop = to;
  }, [index, heights]);

  const start = Math.max(0, heights.rowAt(frame.top - 200));
  const end = Math.min(s.total.value, heights.rowAt(frame.top + frame.height + 200) + 1);
  useEffect(() => {
    loadAround(start, end);
  }, [start, end]);

  const width = Math.max(LEFT + lanes.length * NARROWEST, frame.width);
  const gap = (width - LEFT - 8) / lanes.length;
  const x = (lane: Lane) => xOf(lane, lanes, gap);
  const version = s.stepsVersion.value;
  const at = (i: number) => s.steps.store.at(i);
  const rows = [];
  for (let i = start; i < end; i++) {
    rows.push(
      <Step
        key={i}
        index={i}
        step={at(i)}
        top={heights.topOf(i)}
        lanes={lanes}
        gap={gap}
        width={width}
        active={i === index}
        version={version}
      />,
    );
  }
  const total = heights.total;
  return (
    <div class="sequence" ref={box} tabIndex={0} role="region" aria-label="Sequence of messages">
      <svg class="sequence-head" width={width} height={28} aria-hidden="true">
        {lanes.map((lane) => (
          <text
            key={lane}
            x={x(lane)}
            y={18}
            class={`lane-name lane-${gap < ROOMY ? (SHORT_NAMES[lane] ?? lane) : lane}`}
          >
            {lane === 'pod' && s.isNode.value ? 'node' : lane}
          </text>
        ))}
      </svg>
      <div class="vspace" style={{ height: `${String(total)}px`, width: `${String(width)}px` }}>
        <svg
          class="sequence-page"
          width={width}
          height={Math.max(0, heights.topOf(end) - heights.topOf(start))}
          viewBox={`0 ${String(heights.topOf(start))} ${String(width)} ${String(Math.max(1, heights.topOf(end) - heights.topOf(start)))}`}
          style={{ transform: `translateY(${String(heights.topOf(start))}px)` }}
        >
          <defs>
            {['', '-failed'].map((kind) => (
              <marker
                key={kind}
                id={`tip${kind}`}
                viewBox="0 0 8 8"
                refX="7"
                refY="4"
                markerWidth="7"
                markerHeight="7"
                orient="auto"
              >
                <path d="M0 0.5 8 4 0 7.5z" class={`tip${kind}`} />
              </marker>
            ))}
          </defs>
          {lanes.map((lane) => (
            <line
              key={lane}
              x1={x(lane)}
              x2={x(lane)}
              y1={heights.topOf(start)}
              y2={heights.topOf(end)}
              class="lifeline"
              data-lane={lane}
            />
          ))}
          {activations(start, end, at).map((work) => (
            <Work
              key={`${String(work.from)} ${String(work.arrow)}`}
              work={work}
              x={x(work.lane)}
              heights={heights}
              bottom={heights.topOf(end)}
            />
          ))}
          {rows}
        </svg>
      </div>
    </div>
  );
}

const xOf = (lane: Lane, lanes: readonly Lane[], gap: number) => LEFT + gap * (lanes.indexOf(lane) + 0.5);
const yOfArrow = (top: number, n: number) => top + STEP_PADDING / 2 + ARROW_HEIGHT * (n + 0.7);

function Work({ work, x, heights, bottom }: { work: Activation; x: number; heights: RowHeights; bottom: number }) {
  const from = yOfArrow(heights.topOf(work.from), work.arrow);
  const to = work.to === Infinity ? bottom : yOfArrow(heights.topOf(work.to), 0);
  return (
    <rect
      x={x - 3}
      y={from}
      width={6}
      height={Math.max(2, to - from)}
      rx={2}
      class={`work lane-${work.lane}`}
      data-failed={work.failed}
    />
  );
}

interface StepProps {
  index: number;
  step: StepLine | undefined;
  top: number;
  lanes: readonly Lane[];
  gap: number;
  width: number;
  active: boolean;
  /** Changes when steps were loaded: the answer of an effect may be known now. */
  version: number;
}

const Step = memo(({ index, step, top, lanes, gap, width, active }: StepProps) => {
  if (step === undefined) return null;
  const height = heightOf(step);
  const x = (lane: Lane) => xOf(lane, lanes, gap);
  return (
    <g
      class="sstep"
      data-active={active}
      data-step={index}
      onClick={() => {
        s.playing.value = false;
        goTo(index);
      }}
    >
      <rect x={0} y={top} width={width} height={height} class="sstep-back" />
      <text x={8} y={yOfArrow(top, 0) + 3} class="sstep-time">
        {timeText(step.at)}
      </text>
      {step.before !== step.after && (
        <text x={8} y={yOfArrow(top, 0) + 17} class={`sstep-state text-${toneOf(step.after)}`}>
          {step.effects.length > 0 ? leafOf(step.after) : ''}
        </text>
      )}
      {arrowsOf(step, (i) => s.steps.store.at(i)).map((arrow, n) => (
        <ArrowLine key={n} arrow={arrow} y={yOfArrow(top, n)} x={x} width={width} />
      ))}
      {step.before !== step.after && (
        <circle cx={x('pod')} cy={yOfArrow(top, 0)} r={4} class={`sstep-dot tone-${toneOf(step.after)}`} />
      )}
    </g>
  );
});

function ArrowLine({ arrow, y, x, width }: { arrow: Arrow; y: number; x: (lane: Lane) => number; width: number }) {
  const from = x(arrow.from);
  const to = x(arrow.to);
  const right = to > from;
  const reach = right ? -2 : 2;
  const ms = arrow.ms === undefined ? '' : ` ${durationText(arrow.ms)}`;
  const title = `${arrow.from} → ${arrow.to}: ${arrow.text}${ms}${arrow.other === undefined ? '' : arrow.kind === 'effect' ? `, answered in step ${String(arrow.other + 1)}` : `, asked for in step ${String(arrow.other + 1)}`}`;
  // A label starts at the arrow's left end and may run on beyond it; it is cut where the page ends.
  const left = Math.min(from, to) + 6;
  const room = Math.max(8, Math.floor((width - left) / 6.1) - ms.length);
  const text = arrow.text.length > room ? `${arrow.text.slice(0, room - 1)}…` : arrow.text;
  return (
    <g class={`arrow-line kind-${arrow.kind}`} data-failed={arrow.failed}>
      {from === to ? (
        <circle cx={from} cy={y} r={3} class="self" />
      ) : (
        <line x1={from} x2={to + reach} y1={y} y2={y} marker-end={arrow.failed ? 'url(#tip-failed)' : 'url(#tip)'} />
      )}
      <text x={left} y={y - 4}>
        {text}
        <tspan class="arrow-ms">{ms}</tspan>
      </text>
      <title>{title}</title>
    </g>
  );
}
