import { useState } from 'preact/hooks';
import type { View } from '../model/moment.ts';
import { VIEWS } from '../model/moment.ts';
import * as s from '../session/session.ts';
import { setView } from '../session/travel.ts';
import type { Way } from '../model/journey.ts';
import { Empty } from './empty.tsx';
import { ExplainView } from './explain-view.tsx';
import { MachineChips, machinesNow } from './machine-chips.tsx';
import { NodePage } from './node-page.tsx';
import { PodHead } from './pod-head.tsx';
import { SequenceView } from './sequence-view.tsx';
import { TimeLine } from './time-line.tsx';
import { Transport } from './transport.tsx';
import { TreeView } from './tree-view.tsx';
import { Chart } from './chart-drawing.tsx';
import { layoutOf } from './layouts.ts';
import { useWidth } from './use-width.ts';

/** The chosen pod: head, moment, chart, and the chosen view of it; the node with all its pods while none is chosen. */
export function PodPage() {
  if (s.uid.value === '') return <NodePage />;
  if (s.total.value === 0 && s.podsLoaded.value && s.pod.value === undefined) {
    return (
      <Empty title="No such pod">
        {s.stepsError.value === '' ? 'The journals do not know it (any more).' : s.stepsError.value}
      </Empty>
    );
  }
  return (
    <div class="page" data-wide={s.wide.value}>
      <PodHead />
      <Transport />
      <section class="picture" aria-label="State machines">
        <MachineChips />
        <StateChart />
      </section>
      <section class="panel" aria-label="Details">
        <Tabs />
        <Panel />
      </section>
    </div>
  );
}

const NAMES: Record<View, string> = {
  timeline: 'Time line',
  sequence: 'Sequence',
  spec: 'Spec',
  status: 'Status',
  context: 'Context',
  message: 'Message',
  explain: 'Explain',
};

function Tabs() {
  return (
    <div class="tabs" role="group" aria-label="Views">
      {VIEWS.map((view, i) => (
        <button
          key={view}
          type="button"
          class="tab"
          aria-pressed={view === s.view.value}
          title={`${NAMES[view]} (${String(i + 1)})`}
          onClick={() => {
            setView(view);
          }}
        >
          {NAMES[view]}
        </button>
      ))}
      <span class="grow" />
      <button
        type="button"
        class="icon"
        aria-pressed={s.wide.value}
        aria-label="Wide panel"
        title="Wide panel (w)"
        onClick={() => {
          s.wide.value = !s.wide.value;
        }}
      >
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <path d="M6 4 2 8l4 4M10 4l4 4-4 4M2 8h12" class="line-shape" />
        </svg>
      </button>
    </div>
  );
}

function Panel() {
  const view = s.view.value;
  switch (view) {
    case 'timeline':
      return <TimeLine />;
    case 'sequence':
      return <SequenceView />;
    case 'explain':
      return <ExplainView />;
    case 'spec':
    case 'status':
    case 'context':
    case 'message':
      return <TreeView key={view} of={view} />;
  }
}

/** The chosen machine's chart with its active states lit and its last transition marked. */
function StateChart() {
  const { ref, width } = useWidth();
  const [hover, setHover] = useState('');
  const machines = machinesNow();
  const machine = machines.find((m) => m.id === s.moment.value.chart) ?? machines[0];
  const layout = machine === undefined || width === 0 ? null : layoutOf(machine.kind, width);
  return (
    <div class="chart-box" ref={ref}>
      {machine === undefined || layout === null ? (
        s.about.value !== null &&
        width > 0 && (
          <Empty title="No chart">
            {s.isSingle.value
              ? 'This machine is a function of its state, which Context shows.'
              : 'The server does not know this machine.'}
          </Empty>
        )
      ) : (
        <Chart
          key={machine.id}
          layout={layout}
          state={machine.state}
          title={machine.id}
          ways={machine.id === 'pod' ? [...s.ways.value.values()] : ownWay(machine.before, machine.state)}
          latest={machine.id === 'pod' ? s.latestWay.value : ownWay(machine.before, machine.state)[0]}
          hover={hover}
          onHover={setHover}
        />
      )}
    </div>
  );
}

/** What the step itself did to a machine whose history is not loaded. */
function ownWay(before: string, after: string): Way[] {
  return before === '' || before === after ? [] : [{ from: before, to: after, times: 1, last: s.index.value }];
}
