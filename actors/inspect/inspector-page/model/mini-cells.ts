import type { Chart, ChartState } from '../../../../machines/charts/chart.ts';

/** One state of a machine's small picture: a cell in a few rows. */
export interface MiniCell {
  path: string;
  row: number;
  col: number;
}

/** Cells in one row. */
const ACROSS = 8;

/** All states without children: each compound state begins a row, the rest share rows in the machine's order. */
export function miniCells(chart: Chart): MiniCell[] {
  const cells: MiniCell[] = [];
  let row = 0;
  let col = 0;
  const put = (state: ChartState) => {
    if (col === ACROSS) [row, col] = [row + 1, 0];
    cells.push({ path: state.path, row, col: col++ });
  };
  const newRow = () => {
    if (col > 0) [row, col] = [row + 1, 0];
  };
  const walk = (state: ChartState): void => {
    if (state.states.length === 0) {
      put(state);
      return;
    }
    newRow();
    state.states.forEach(walk);
    newRow();
  };
  // A machine's single states first, so that they do not cut the rows of the compound ones.
  chart.root.states.filter((s) => s.states.length === 0).forEach(walk);
  chart.root.states.filter((s) => s.states.length > 0).forEach(walk);
  return cells;
}
