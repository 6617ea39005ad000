import { miniCells } from '../model/mini-cells.ts';
import { toneOf } from '../model/state-names.ts';
import * as s from '../session/session.ts';

const CELL = 7;

/** A machine a few millimetres wide: each state a cell, the active one lit. */
export function MiniChart({ kind, state }: { kind: string; state: string }) {
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
