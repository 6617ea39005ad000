import { useState } from 'preact/hooks';
import type { Way } from '../model/journey.ts';
import * as s from '../session/session.ts';
import { Chart } from './chart-drawing.tsx';
import { Empty } from './empty.tsx';
import { layoutOf } from './layouts.ts';
import { machinesNow } from './machine-chips.tsx';
import { useWidth } from './use-width.ts';

/** The chosen machine's chart with its active states lit and its last transition marked. */
export function StateChart() {
  const { ref, width } = useWidth();
  const [hover, setHover] = useState('');
  const machines = machinesNow();
  const machine = machines.find((m) => m.id === s.moment.value.chart) ?? machines[0];
  const layout = machine === undefined || width === 0 ? null : layoutOf(machine.kind, width);
  return (
    <div class="chart-box" ref={ref}>
      {machine === undefined || layout === null ? (
        s.about.value !== null && width > 0 && <Empty title="No chart">The server does not know this machine.</Empty>
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
