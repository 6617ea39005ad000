import type { NodeMoment } from '../../inspector/inspector-api.ts';
import { countText, dateTimeText, spanText } from '../model/clock-text.ts';
import type { Way } from '../model/journey.ts';
import { overviewAt } from '../session/node-overview.ts';
import * as s from '../session/session.ts';
import { openPod } from '../session/travel.ts';
import { Chart } from './chart-drawing.tsx';
import { layoutOf } from './layouts.ts';
import { useWidth } from './use-width.ts';

const ignore = () => undefined;

/** The node's own machine, with its state at the moment lit. */
export function NodeMachine({ node, at }: { node: NodeMoment; at: number }) {
  const { ref, width } = useWidth();
  const line = s.node.value;
  const layout = width === 0 ? null : layoutOf('node', width);
  const came: Way[] =
    node.before === '' || node.before === node.state ? [] : [{ from: node.before, to: node.state, times: 1, last: -1 }];
  return (
    <section class="node-machine" aria-label="The node's machine">
      <h3>
        Machine
        <span class="quiet mono" title={`since ${dateTimeText(node.since)}`}>
          for {spanText((overviewAt.value === null ? s.now.value : at) - node.since)}
        </span>
        <span class="grow" />
        {line !== null && (
          <button
            type="button"
            class="small"
            title="Its messages, one by one"
            onClick={() => {
              openPod(line.uid);
            }}
          >
            {countText(line.steps)} {line.steps === 1 ? 'step' : 'steps'}
          </button>
        )}
      </h3>
      <div class="node-chart" ref={ref}>
        {layout !== null && (
          <Chart
            layout={layout}
            state={node.state}
            title="node"
            ways={came}
            latest={came[0]}
            hover=""
            onHover={ignore}
          />
        )}
      </div>
    </section>
  );
}
