import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { chartSvg } from '../../../actors/inspect/charts/draw-chart.ts';
import { machinesCommand } from '../../../bin/commands/machines.ts';
import { chartOf } from '../../../machines/charts/chart-of.ts';
import { MACHINE_NAMES, NODE_MACHINES } from '../../../machines/charts/node-machines.ts';

const FOLDER = join(import.meta.dirname, '../../../docs/machines');

async function machines(...args: string[]): Promise<string> {
  let out = '';
  const command = machinesCommand((text) => (out += text))
    .exitOverride()
    .configureOutput({ writeErr: () => undefined });
  await command.parseAsync(args, { from: 'user' });
  return out;
}

describe('the pictures in docs/machines', () => {
  for (const name of MACHINE_NAMES) {
    it(`${name}.svg is what actorlet machines draws today`, async () => {
      const kept = await readFile(join(FOLDER, `${name}.svg`), 'utf8');
      const drawn = await machines(name, '--format', 'svg');
      const cure = `stale: bin/actorlet machines ${name} --format svg > docs/machines/${name}.svg`;
      assert.ok(kept === drawn, cure);
    });
  }

  it('another chart is another picture, and the same chart the same bytes', async () => {
    const chart = chartOf(NODE_MACHINES.probe);
    const changed = { ...chart, transitions: chart.transitions.slice(1) };
    assert.notEqual(await chartSvg(changed), await chartSvg(chart));
    assert.equal(await chartSvg(structuredClone(chart)), await chartSvg(chart));
  });

  it('every state has a box inside of its parent, no two of one parent overlap, and nothing leaves the picture', async () => {
    for (const name of MACHINE_NAMES) {
      const svg = await chartSvg(chartOf(NODE_MACHINES[name]));
      const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg) ?? [];
      const boxes = [
        ...svg.matchAll(
          /<g id="([\w.]+)"><rect class="box[^"]*" x="([-\d.]+)" y="([-\d.]+)" width="([\d.]+)" height="([\d.]+)"/g,
        ),
      ].map(([, id = '', x, y, w, h]) => ({
        id,
        left: Number(x),
        top: Number(y),
        right: Number(x) + Number(w),
        bottom: Number(y) + Number(h),
      }));
      const parentOf = (id: string) => (id.includes('.') ? id.slice(0, id.lastIndexOf('.')) : 'machine');
      for (const box of boxes) {
        assert.ok(box.left >= 0 && box.top >= 0 && box.right <= Number(width) && box.bottom <= Number(height), box.id);
        const parent = boxes.find((b) => b.id === parentOf(box.id));
        if (box.id === 'machine' || parent === undefined) continue;
        assert.ok(
          box.left > parent.left && box.right < parent.right && box.top > parent.top && box.bottom < parent.bottom,
          box.id,
        );
        for (const other of boxes.filter(
          (b) => b.id !== box.id && b.id !== 'machine' && parentOf(b.id) === parentOf(box.id),
        ))
          assert.ok(
            box.right <= other.left || other.right <= box.left || box.bottom <= other.top || other.bottom <= box.top,
            `${box.id} and ${other.id}`,
          );
      }
      assert.ok(boxes.length > 2, name);
    }
  });
});

describe('actorlet machines', () => {
  it('lists the machines, and writes one in each format', async () => {
    assert.equal(await machines(), `${MACHINE_NAMES.join('\n')}\n`);
    assert.equal((JSON.parse(await machines('pod')) as { id: string }).id, 'pod');
    assert.equal(
      (JSON.parse(await machines('pod', '--format', 'xstate-json')) as { initial: string }).initial,
      'syncing',
    );
    assert.match(await machines('probe', '--format', 'mermaid'), /^stateDiagram-v2\n/);
    await assert.rejects(machines('nodes'), /'nodes' is invalid for argument 'name'/);
  });
});
