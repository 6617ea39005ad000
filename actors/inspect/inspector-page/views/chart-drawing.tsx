import { useEffect, useRef } from 'preact/hooks';
import type { Box, ChartLayout } from '../model/chart-layout.ts';
import { liftToSiblings } from '../../../../machines/charts/sibling-ways.ts';
import { timeText } from '../model/clock-text.ts';
import type { Way } from '../model/journey.ts';
import { leafOf, toneOf, withParents } from '../model/state-names.ts';
import { roundedPath, routeWay } from '../model/way-route.ts';
import * as s from '../session/session.ts';
import { goTo } from '../session/travel.ts';
import { memo } from './memo.ts';

interface ChartProps {
  layout: ChartLayout;
  state: string;
  title: string;
  ways: readonly Way[];
  latest: Way | undefined;
  hover: string;
  onHover: (path: string) => void;
}

/** A machine's chart with its active states lit, the ways that were taken and the last one marked. */
export function Chart({ layout, state, title, ways, latest, hover, onHover }: ChartProps) {
  const lit = new Set(withParents(state));
  const visited = new Set(ways.flatMap((way) => [...withParents(way.from), ...withParents(way.to)]));
  const enteredAt = new Map<string, number>();
  for (const { to, last } of ways) enteredAt.set(to, Math.max(last, enteredAt.get(to) ?? -1));
  const drawn = new Map<string, { d: string; times: number; last: boolean; way: Way }>();
  for (const way of ways) {
    const lifted = liftToSiblings(way.from, way.to);
    if (lifted === null) continue;
    const key = `${lifted.from}>${lifted.to}`;
    const known = drawn.get(key);
    const last = way.from === latest?.from && way.to === latest.to;
    const d = known?.d ?? roundedPath(routeWay(layout, way.from, way.to));
    drawn.set(key, {
      d,
      times: way.times + (known?.times ?? 0),
      last: last || known?.last === true,
      way: last || known === undefined || known.way.last < way.last ? way : known.way,
    });
  }
  const taken = [...drawn.entries()]
    .filter(([, w]) => w.d !== '')
    .sort((a, b) => Number(a[1].last) - Number(b[1].last));
  const drawing = useRef<SVGSVGElement>(null);
  useEffect(() => {
    // A chart that is taller than its place: the state that is lit comes into view.
    drawing.current?.querySelector('.state[data-lit="true"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [state, layout]);
  return (
    <svg
      ref={drawing}
      class="chart"
      viewBox={`-2 -2 ${String(layout.width + 4)} ${String(layout.height + 4)}`}
      width={layout.width + 4}
      height={layout.height + 4}
      role="img"
      aria-label={`${title}: ${state}${latest === undefined ? '' : `, came from ${latest.from}`}`}
      data-state={state}
    >
      <defs>
        {['', '-taken', '-last'].map((kind) => (
          <marker
            key={kind}
            id={`arrow${kind}`}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth={kind === '-last' ? 5 : 6}
            markerHeight={kind === '-last' ? 5 : 6}
            orient="auto-start-reverse"
          >
            <path d="M0 0.5 8 4 0 7.5z" class={`arrow${kind}`} />
          </marker>
        ))}
      </defs>
      {[...layout.boxes.values()]
        .filter((box) => box.kind === 'compound' || box.kind === 'parallel')
        .map((box) => (
          <Compound key={box.path} box={box} lit={lit.has(box.path)} />
        ))}
      {layout.lines
        .filter((line) => !drawn.has(`${line.from}>${line.to}`))
        .map((line) => (
          <path key={`${line.from}>${line.to}`} d={roundedPath(line.points)} class="way" marker-end="url(#arrow)">
            <title>{`${line.from} → ${line.to}${line.events.some(Boolean) ? `: ${line.events.filter(Boolean).join(', ')}` : ''}`}</title>
          </path>
        ))}
      <Possible layout={layout} hover={hover} drawn={drawn} />
      {taken.map(([key, { d, times, last, way }]) => (
        <g key={key}>
          <path
            d={d}
            class={last ? 'way-last' : 'way-taken'}
            marker-end={last ? 'url(#arrow-last)' : 'url(#arrow-taken)'}
          >
            <title>{`${way.from} → ${way.to}, ${String(times)} times, last at step ${String(way.last + 1)}`}</title>
          </path>
          {last && <path key={`run ${String(way.last)}`} d={d} pathLength={1} class="way-run" />}
        </g>
      ))}
      {[...layout.boxes.values()]
        .filter((box) => box.kind !== 'compound' && box.kind !== 'parallel')
        .map((box) => (
          <Leaf
            key={box.path}
            box={box}
            lit={box.path === state}
            was={latest?.from === box.path}
            visited={visited.has(box.path)}
            entered={enteredAt.get(box.path) ?? -1}
            at={s.steps.store.at(enteredAt.get(box.path) ?? -1)?.at}
            onHover={onHover}
          />
        ))}
    </svg>
  );
}

function Compound({ box, lit }: { box: Box; lit: boolean }) {
  return (
    <g class="compound" data-lit={lit} data-path={box.path}>
      <rect x={box.x} y={box.y} width={box.w} height={box.h} rx={10} />
      <text x={box.x + 14} y={box.y + 16}>
        {box.key}
      </text>
      <title>{box.description === '' ? box.path : `${box.path}: ${box.description}`}</title>
    </g>
  );
}

interface LeafProps {
  box: Box;
  lit: boolean;
  was: boolean;
  visited: boolean;
  /** Step at which it was last entered, and when; -1: never, as far as is known. */
  entered: number;
  at: number | undefined;
  onHover: (path: string) => void;
}

const Leaf = memo(({ box, lit, was, visited, entered, at, onHover }: LeafProps) => {
  const words = [box.description === '' ? box.path : `${box.path}: ${box.description}`];
  if (entered >= 0)
    words.push(
      `entered at step ${String(entered + 1)}${at === undefined ? '' : `, ${timeText(at)}`}; click goes there`,
    );
  return (
    <g
      class={`state tone-${toneOf(box.path)}`}
      data-path={box.path}
      data-lit={lit}
      data-was={was}
      data-visited={visited || lit}
      data-final={box.kind === 'final'}
      onMouseEnter={() => {
        onHover(box.path);
      }}
      onMouseLeave={() => {
        onHover('');
      }}
      onClick={() => {
        if (entered >= 0) goTo(entered);
      }}
    >
      <rect x={box.x} y={box.y} width={box.w} height={box.h} rx={7} class="state-box" />
      {box.kind === 'final' && (
        <rect x={box.x + 3} y={box.y + 3} width={box.w - 6} height={box.h - 6} rx={5} class="state-final" />
      )}
      {box.initial && <circle cx={box.x} cy={box.y + box.h / 2} r={3} class="state-initial" />}
      <text x={box.x + box.w / 2} y={box.y + box.h / 2 + 4}>
        {leafOf(box.path)}
      </text>
      <title>{words.join('\n')}</title>
    </g>
  );
});

/** Where a state of a dense level could go, faint, while the pointer is on it. */
function Possible({
  layout,
  hover,
  drawn,
}: {
  layout: ChartLayout;
  hover: string;
  drawn: ReadonlyMap<string, unknown>;
}) {
  const from = layout.boxes.get(hover);
  if (from === undefined || from.row < 0) return null;
  const siblings = [...layout.boxes.values()].filter(
    (box) =>
      box.row >= 0 &&
      box.path !== hover &&
      liftToSiblings(hover, box.path)?.to === box.path &&
      !drawn.has(`${hover}>${box.path}`),
  );
  return (
    <g class="possible">
      {siblings.map((box) => (
        <path key={box.path} d={roundedPath(routeWay(layout, hover, box.path))} class="way" />
      ))}
    </g>
  );
}
