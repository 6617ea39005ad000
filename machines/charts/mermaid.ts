import type { Chart, ChartState } from './chart.ts';
import { ANY_ORDER, drawnChart } from './drawn-chart.ts';

/** A chart as a Mermaid `stateDiagram-v2` (see {@link drawnChart}). Ends with a newline. */
export function mermaidOf(chart: Chart): string {
  const { edges, stays, reasons, anyOrder } = drawnChart(chart);
  const lines = ['stateDiagram-v2'];
  const write = (state: ChartState, depth: number) => {
    const pad = '  '.repeat(depth);
    const id = idOf(state.path);
    if (state.states.length === 0) {
      const reasonsIn = (reasons[state.path] ?? []).map((why) => `← ${why}`);
      const text = [state.key, ...(state.description === '' ? [] : [state.description]), ...reasonsIn];
      lines.push(`${pad}state "${text.map(escaped).join('<br>')}" as ${id}`);
      if (state.kind === 'final') lines.push(`${pad}${id} --> [*]`);
      return;
    }
    lines.push(`${pad}state "${escaped(state.key)}" as ${id} {`);
    body(state, depth + 1);
    lines.push(`${pad}}`);
  };
  const body = (state: ChartState, depth: number) => {
    const pad = '  '.repeat(depth);
    if (state.initial !== undefined) lines.push(`${pad}[*] --> ${idOf(state.initial)}`);
    for (const child of state.states) write(child, depth);
  };
  body(chart.root, 1);
  for (const { from, to, labels } of edges) {
    const named = labels.filter((label) => label !== 'always');
    lines.push(`  ${idOf(from)} --> ${idOf(to)}${named.length === 0 ? '' : ` : ${named.map(escaped).join(', ')}`}`);
  }
  for (const path of anyOrder) lines.push(`  note right of ${idOf(path)}`, `    ${ANY_ORDER}`, '  end note');
  for (const [path, events] of Object.entries(stays)) {
    const where = path === '' ? (chart.root.states[0]?.path ?? '') : path;
    const text = `${path === '' ? 'in every state' : 'stays'}: ${events.join(', ')}`;
    lines.push(`  note left of ${idOf(where)}`, `    ${escaped(text)}`, '  end note');
  }
  return `${lines.join('\n')}\n`;
}

function idOf(path: string): string {
  return path === '' ? 'machine' : path.replaceAll('.', '_');
}

/** Mermaid reads colons, semicolons and hashes as its own; entities are its way to write them. */
function escaped(text: string): string {
  return text.replace(/[#;:"]/g, (c) => `#${c.charCodeAt(0)};`);
}
