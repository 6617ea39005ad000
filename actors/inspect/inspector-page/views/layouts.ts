import type { ChartLayout } from '../model/chart-layout.ts';
import { layoutForPage } from '../model/chart-layout.ts';
import * as s from '../session/session.ts';

const known = new Map<string, ChartLayout>();

/** Layout of a machine's chart for a width, px; made once for each. Null when the server has no such chart. */
export function layoutOf(machine: string, width: number): ChartLayout | null {
  const chart = s.about.value?.charts.find((c) => c.id === machine);
  if (chart === undefined) return null;
  const key = `${machine} ${String(width)}`;
  const layout = known.get(key) ?? layoutForPage(chart, width);
  known.set(key, layout);
  return layout;
}
