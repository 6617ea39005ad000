import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Box, ChartLayout } from '../../../actors/inspect/inspector-page/model/chart-layout.ts';
import { layoutChart } from '../../../actors/inspect/inspector-page/model/chart-layout.ts';
import { liftToSiblings } from '../../../machines/charts/sibling-ways.ts';
import { miniCells } from '../../../actors/inspect/inspector-page/model/mini-cells.ts';
import { parentOf } from '../../../actors/inspect/inspector-page/model/state-names.ts';
import { roundedPath, routeWay } from '../../../actors/inspect/inspector-page/model/way-route.ts';
import { chartOf, statesOf } from '../../../machines/charts/chart-of.ts';
import { NODE_MACHINES } from '../../../machines/charts/node-machines.ts';

const CHARTS = Object.values(NODE_MACHINES).map((machine) => chartOf(machine));
const POD = chartOf(NODE_MACHINES.pod);

const overlap = (a: Box, b: Box) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
const contains = (a: Box, b: Box) => a.x <= b.x && a.y <= b.y && a.x + a.w >= b.x + b.w && a.y + a.h >= b.y + b.h;
const boxOf = (layout: ChartLayout, path: string) => layout.boxes.get(path) ?? assert.fail(`no box for ${path}`);

for (const chart of CHARTS) {
  for (const width of [360, 540, 900]) {
    test(`${chart.id} at ${String(width)} px: each state has its place, inside its parent, clear of its siblings`, () => {
      const layout = layoutChart(chart, width);
      assert.deepEqual(
        [...layout.boxes.keys()].sort(),
        statesOf(chart)
          .map((s) => s.path)
          .sort(),
      );
      for (const { from, to, points } of layout.lines) {
        const inside = points.every((p) => p.x >= 0 && p.y >= 0 && p.x <= layout.width && p.y <= layout.height);
        assert.ok(inside, `${from} to ${to} leaves the picture`);
      }
      const boxes = [...layout.boxes.values()];
      for (const box of boxes) {
        assert.ok(
          box.x >= 0 && box.y >= 0 && box.x + box.w <= layout.width && box.y + box.h <= layout.height,
          box.path,
        );
        const parent = parentOf(box.path);
        if (parent !== '') assert.ok(contains(boxOf(layout, parent), box), `${box.path} leaves ${parent}`);
        for (const other of boxes) {
          if (other === box || parentOf(other.path) !== parent) continue;
          assert.ok(!overlap(box, other), `${box.path} lies on ${other.path}`);
        }
      }
    });
  }
}

test('the moves within syncing are not drawn, those between the phases are', () => {
  const layout = layoutChart(POD);
  assert.deepEqual([...layout.grids.keys()], ['syncing', 'terminating']);
  assert.equal(layout.lines.filter((l) => l.from.startsWith('syncing.')).length, 0);
  assert.ok(layout.lines.some((l) => l.from === 'syncing' && l.to === 'terminating' && l.points.length > 1));
});

test('a narrow place gets fewer columns', () => {
  const cols = (width: number) => layoutChart(POD, width).grids.get('syncing')?.cols.length ?? 0;
  assert.ok(
    cols(300) < cols(600) && cols(600) < cols(1000),
    `${String(cols(300))} ${String(cols(600))} ${String(cols(1000))}`,
  );
});

test('the layout is the same each time', () => {
  assert.deepEqual(layoutChart(POD, 540), layoutChart(POD, 540));
});

test('a way that was taken never runs through a third state', () => {
  const layout = layoutChart(POD, 540);
  const states = [...layout.boxes.values()].filter((b) => parentOf(b.path) === 'syncing');
  for (const a of states) {
    for (const b of states) {
      if (a === b) continue;
      const points = routeWay(layout, a.path, b.path);
      assert.ok(points.length >= 2, `${a.key} to ${b.key}`);
      for (let i = 1; i < points.length; i++) {
        const p = points[i - 1]!;
        const q = points[i]!;
        const line = { x: Math.min(p.x, q.x), y: Math.min(p.y, q.y), w: Math.abs(p.x - q.x), h: Math.abs(p.y - q.y) };
        for (const c of states) {
          if (c === a || c === b) continue;
          assert.ok(!overlap({ ...c, ...line }, c), `${a.key} to ${b.key} crosses ${c.key}`);
        }
      }
    }
  }
});

test('a way into another phase is drawn between the phases', () => {
  const layout = layoutChart(POD);
  assert.deepEqual(liftToSiblings('syncing.running', 'terminating.stoppingContainers'), {
    level: '',
    from: 'syncing',
    to: 'terminating',
  });
  const points = routeWay(layout, 'syncing.running', 'terminating.stoppingContainers');
  assert.ok(points.length > 1);
  assert.match(roundedPath(points), /^M[\d.]+,[\d.]+L|^M[\d.]+,[\d.]+.*L[\d.]+,[\d.]+$/);
});

test('no way is drawn for one that stays or that the chart does not know', () => {
  const layout = layoutChart(POD);
  assert.deepEqual(routeWay(layout, 'syncing.running', 'syncing.running'), []);
  assert.deepEqual(routeWay(layout, 'syncing.running', 'syncing.nonsense'), []);
  assert.equal(roundedPath([]), '');
});

test('the small picture has a cell for each state without children', () => {
  const cells = miniCells(POD);
  assert.equal(cells.length, statesOf(POD).filter((s) => s.states.length === 0).length);
  assert.equal(new Set(cells.map((c) => `${String(c.row)} ${String(c.col)}`)).size, cells.length);
});
