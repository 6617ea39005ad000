import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { pino } from 'pino';
import { explainStep } from '../../../actors/inspect/inspector/explain-step.ts';
import { startInspectorServer } from '../../../actors/inspect/inspector/inspector-server.ts';
import { Inspector } from '../../../actors/inspect/inspector/inspector.ts';
import { findChromium, startBrowser } from './support/browser.ts';

const chromium = findChromium();
const JOURNAL = join(import.meta.dirname, '../../pure/journal/releases/0.1.0/node-shard-00-00000001.jsonl.gz');

test(
  'a recorded journal, from the real server: the printed address lets in, a pod is travelled through',
  { skip: chromium === undefined ? 'needs chromium' : false },
  async (t) => {
    const inspector = new Inspector({ mode: 'files', paths: [JOURNAL] }, 'v-test');
    await inspector.refresh();
    const server = await startInspectorServer({
      inspector,
      address: { host: '127.0.0.1', port: 0 },
      token: 'the-token-of-this-test',
      log: pino({ level: 'silent' }),
    });
    t.after(() => server.close());
    const browser = await startBrowser(chromium ?? '');
    t.after(() => browser.close());

    const stranger = await browser.open(`http://127.0.0.1:${String(server.port)}/`, /status of 401/);
    assert.equal(await stranger.$('.pod'), null, 'nothing is shown without the token');
    await stranger.close();

    const page = await browser.open(server.address);
    await page.waitForSelector('.pod');
    assert.ok(!page.url().includes('the-token'), 'the token leaves the address bar');
    assert.equal(await page.$eval('.lamp', (el) => el.textContent), 'recorded');
    // Nothing is chosen: the node, at its end and at a moment before.
    await page.waitForSelector('.fleet .band');
    const { history } = await inspector.overview(null);
    for (let i = 0; i < 70; i++) await page.keyboard.press('ArrowLeft');
    const then = history.start + (history.length - 70) * history.width - 1;
    const { waiting, calls } = await inspector.overview(then);
    await page.waitForFunction((count) => document.querySelectorAll('.call').length === count, {}, calls.length);
    await page.waitForFunction(
      (count) => document.querySelector('.waiting h3 .mono')?.textContent === count,
      {},
      `${String(waiting.total)}`,
    );
    const [longest] = waiting.pods;
    assert.ok(longest !== undefined);
    const { causes } =
      (await explainStep(inspector, inspector.entry(longest.uid) ?? assert.fail(), longest.step)) ?? assert.fail();
    await page.waitForFunction(
      (words) => document.querySelector('.wait')?.textContent.includes(words),
      {},
      causes[0]?.text ?? '',
    );
    await page.click('.wait');
    await page.waitForFunction(
      (hash) => location.hash === hash,
      {},
      `#pod=${longest.uid}&step=${String(longest.step)}`,
    );

    const { uid, steps } = inspector.pods().toSorted((a, b) => b.steps - a.steps)[0] ?? assert.fail('no pods');
    await page.evaluate((to) => {
      location.hash = to;
    }, `#pod=${uid}&view=status`);
    await page.waitForSelector('.tree-rows .node');
    await page.keyboard.press('Home');
    for (let step = 0; step < Math.min(steps, 15); step++) {
      const state = inspector.steps(uid, step, 1)?.steps[0]?.after ?? assert.fail(`no step ${String(step)}`);
      await page.waitForFunction(
        (n, to) =>
          document.querySelector('.where b')?.textContent === n &&
          document.querySelector('.state[data-lit="true"]')?.getAttribute('data-path') === to,
        {},
        String(step + 1),
        state,
      );
      await page.keyboard.press('ArrowRight');
    }
    await page.keyboard.press('7');
    await page.waitForSelector('.explain-summary');
    await page.keyboard.press('2');
    await page.waitForSelector('.sstep[data-active="true"]');
    assert.deepEqual(await browser.closePages(), []);
  },
);
