import type { Chart } from '../../../machines/charts/chart.ts';
import { drawnChart } from '../../../machines/charts/drawn-chart.ts';
import type { Box, Line } from './layout-chart.ts';
import { layoutChart, NAME_LINE, TEXT_LINE } from './layout-chart.ts';

/** Colours by CSS, so that the reader's preference for dark or light counts, also where the picture is an `<img>`. */
const STYLE = `
text { font-family: ui-sans-serif, system-ui, "Segoe UI", Roboto, sans-serif; font-size: 11px; fill: #454b54; }
.name { font-size: 13px; font-weight: 600; fill: #14181d; }
.box { stroke: #6b7480; stroke-width: 1.2; fill: #ffffff; }
.compound { fill: #f2f5f9; }
.root { fill: #fbfcfe; }
.final { fill: none; stroke: #6b7480; }
.line { fill: none; stroke: #2f6fb2; stroke-width: 1.3; }
.always { stroke-dasharray: 5 3; }
.head, .dot { fill: #2f6fb2; }
.back { fill: #fbfcfe; fill-opacity: 0.85; }
.label { fill: #1c4f86; }
@media (prefers-color-scheme: dark) {
  text { fill: #b3bcc8; }
  .name { fill: #f2f5f8; }
  .box { stroke: #7d8896; fill: #262c35; }
  .compound { fill: #1d222a; }
  .root { fill: #14181e; }
  .final { stroke: #7d8896; }
  .line { stroke: #6fb1f5; }
  .head, .dot { fill: #6fb1f5; }
  .back { fill: #14181e; }
  .label { fill: #9fcbfa; }
}
`;

/** A chart as an SVG picture: nested boxes, one line for all that leads from one state to another. The same chart gives the same bytes. */
export async function chartSvg(chart: Chart): Promise<string> {
  const { width, height, boxes, lines } = await layoutChart(drawnChart(chart));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="The ${escaped(chart.id)} machine">`,
    `<title>The ${escaped(chart.id)} machine</title>`,
    `<style>${STYLE}</style>`,
    '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto"><path class="head" d="M0 0.5L8 4L0 7.5z"/></marker></defs>',
    ...boxes.map(box),
    ...lines.map(path),
    ...lines.map(label),
    '</svg>',
    '',
  ].join('\n');
}

function box({ state, x, y, width, height, lines, first }: Box): string {
  const kind = state.path === '' ? ' root' : state.states.length > 0 ? ' compound' : '';
  const parts = [
    `<g id="${escaped(state.path || 'machine')}">`,
    `<rect class="box${kind}" x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" rx="7"/>`,
  ];
  if (state.kind === 'final')
    parts.push(
      `<rect class="final" x="${n(x + 3)}" y="${n(y + 3)}" width="${n(width - 6)}" height="${n(height - 6)}" rx="5"/>`,
    );
  if (first) {
    parts.push(
      `<circle class="dot" cx="${n(x + 4)}" cy="${n(y - 13)}" r="4"/>`,
      `<path class="line" marker-end="url(#arrow)" d="M${n(x + 6)} ${n(y - 10)}L${n(x + 14)} ${n(y - 0.5)}"/>`,
    );
  }
  parts.push(`<text class="name" x="${n(x + 10)}" y="${n(y + 20)}">${escaped(state.key)}</text>`);
  lines.forEach((text, i) =>
    parts.push(`<text x="${n(x + 10)}" y="${n(y + 17 + NAME_LINE + i * TEXT_LINE)}">${escaped(text)}</text>`),
  );
  parts.push('</g>');
  return parts.join('');
}

/** A line through its points, rounded at each of them. */
function path({ points, eventless }: Line): string {
  const [start, ...rest] = points;
  if (start === undefined) return '';
  let d = `M${n(start.x)} ${n(start.y)}`;
  rest.forEach((point, i) => {
    const next = rest[i + 1];
    if (next === undefined) d += `L${n(point.x)} ${n(point.y)}`;
    else d += `Q${n(point.x)} ${n(point.y)} ${n((point.x + next.x) / 2)} ${n((point.y + next.y) / 2)}`;
  });
  return `<path class="line${eventless ? ' always' : ''}" marker-end="url(#arrow)" d="${d}"/>`;
}

function label({ label: texts, x, y }: Line): string {
  if (texts.length === 0) return '';
  const width = Math.max(...texts.map((text) => text.length)) * 5.8 + 6;
  const top = y - (texts.length * TEXT_LINE) / 2;
  const rows = texts.map(
    (text, i) =>
      `<text class="label" text-anchor="middle" x="${n(x)}" y="${n(top + 11 + i * TEXT_LINE)}">${escaped(text)}</text>`,
  );
  const back = `<rect class="back" x="${n(x - width / 2)}" y="${n(top)}" width="${n(width)}" height="${n(texts.length * TEXT_LINE)}" rx="3"/>`;
  return `<g>${back}${rows.join('')}</g>`;
}

/** A number as short as the eye needs it, the same on every machine. */
function n(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}
