import * as s from '../session/session.ts';
import { overview, overviewError } from '../session/node-overview.ts';
import { Empty } from './empty.tsx';
import { FleetChart } from './fleet-chart.tsx';
import { MachineList } from './machine-list.tsx';
import { NodeHead } from './node-head.tsx';
import { NodeMachine } from './node-machine.tsx';
import { PressureView } from './pressure-view.tsx';
import { ResourcesView } from './resources-view.tsx';
import { SlowCalls } from './slow-calls.tsx';
import { WaitingList } from './waiting-list.tsx';

/** The node with all its pods, at its newest moment or an earlier one: what is shown while no pod is chosen. */
export function NodePage() {
  const told = overview.value;
  if (told === null || s.about.value === null) {
    if (s.connection.value === 'refused')
      return <Empty title="No access">Open the address that the agent printed: it holds the token.</Empty>;
    if (overviewError.value !== '') return <Empty title="The node cannot be shown">{overviewError.value}</Empty>;
    return (
      <div class="node-page" aria-busy="true">
        <div class="skeleton" />
        <div class="skeleton" />
        <div class="skeleton" />
      </div>
    );
  }
  return (
    <div class="node-page">
      <NodeHead told={told} />
      <FleetChart told={told} />
      <div class="node-body" data-machine={told.node !== null}>
        {told.node !== null && <NodeMachine node={told.node} at={told.at} />}
        <WaitingList told={told} />
        <SlowCalls told={told} />
      </div>
      {/* A server of before tells nothing of it. */}
      {told.pressure != null && <PressureView report={told.pressure} />}
      {told.resources != null && <ResourcesView told={told.resources} at={told.at} />}
      {told.machines.length > 0 && <MachineList told={told} />}
    </div>
  );
}
