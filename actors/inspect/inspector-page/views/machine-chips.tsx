import { leafOf, toneOf } from '../model/state-names.ts';
import * as s from '../session/session.ts';
import { setChart } from '../session/travel.ts';
import { miniCells } from '../model/mini-cells.ts';

/** One machine of the pod. */
export interface MachineOfPod {
  /** As in the address: `pod` (of the node, too), `container/NAME`, `probe/CONTAINER/KIND`, `volume/NAME`. */
  id: string;
  kind: string;
  name: string;
  state: string;
  /** State after the step before; '' when there was none. */
  before: string;
}

/** The pod's machine and those in its context, at the shown moment. */
export function machinesNow(): MachineOfPod[] {
  // A machine that there is one of goes by its name; it has a chart only when it is one of XState's.
  const kind = s.isNode.value ? 'node' : s.isSingle.value ? s.uid.value.slice(1) : 'pod';
  const all: MachineOfPod[] = [
    { id: 'pod', kind, name: kind, state: s.stateNow.value, before: s.line.value?.before ?? '' },
  ];
  const shown = s.shown.value;
  if (shown?.uid !== s.uid.value) return all;
  const old = shown.previous?.machines;
  for (const [name, state] of Object.entries(shown.detail.machines.containers)) {
    all.push({ id: `container/${name}`, kind: 'container', name, state, before: old?.containers[name] ?? '' });
  }
  for (const [name, state] of Object.entries(shown.detail.machines.probes)) {
    all.push({ id: `probe/${name}`, kind: 'probe', name, state, before: old?.probes[name] ?? '' });
  }
  for (const [name, state] of Object.entries(shown.detail.machines.volumes)) {
    all.push({ id: `volume/${name}`, kind: 'volume', name, state, before: old?.volumes[name] ?? '' });
  }
  return all;
}

/** The machines of the pod as small charts; the chosen one is drawn large below. */
export function MachineChips() {
  const machines = machinesNow();
  const chosen = s.moment.value.chart;
  return (
    <div class="machines" role="group" aria-label="Machines of the pod">
      {machines.map((m) => (
        <button
          key={m.id}
          type="button"
          class="machine"
          data-kind={m.kind}
          data-moved={m.before !== '' && m.before !== m.state}
          aria-pressed={m.id === chosen}
          title={`${m.kind} ${m.name}: ${m.state}`}
          onClick={() => {
            setChart(m.id);
          }}
        >
          <MiniChart kind={m.kind} state={m.state} />
          <span class="machine-text">
            <span class="quiet">{m.id === 'pod' ? 'machine' : m.kind}</span> <b class="mono">{m.name}</b>
            <br />
            <span class={`mono text-${toneOf(m.state)}`}>{leafOf(m.state)}</span>
          </span>
        </button>
      ))}
    </div>
  );
}

const CELL = 7;

/** A machine a few millimetres wide: each state a cell, the active one lit. */
function MiniChart({ kind, state }: { kind: string; state: string }) {
  const chart = s.about.value?.charts.find((c) => c.id === kind);
  if (chart === undefined) return null;
  const cells = miniCells(chart);
  const width = Math.max(...cells.map((c) => c.col + 1)) * CELL - 2;
  const height = Math.max(...cells.map((c) => c.row + 1)) * CELL - 2;
  return (
    <svg
      class="mini"
      viewBox={`0 0 ${String(width)} ${String(height)}`}
      width={width}
      height={height}
      aria-hidden="true"
    >
      {cells.map((cell) => (
        <rect
          key={cell.path}
          x={cell.col * CELL}
          y={cell.row * CELL}
          width={CELL - 2}
          height={CELL - 2}
          rx={1.5}
          class={cell.path === state ? `mini-lit tone-${toneOf(state)}` : 'mini-box'}
        />
      ))}
    </svg>
  );
}
