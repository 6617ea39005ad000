/**
 * How smooth the inspector's page is in headless Chromium: `bin/bench inspector-page` or `node test/bench/inspector-page.ts`.
 * Prints JSON: bundle sizes, time until the list shows, and for each kind of use the work of the page's main thread for one
 * frame (all tasks between two frames together), in ms. A frame is missed when that is more than 16.7 ms.
 */
import { gzipSync } from 'node:zlib';
import type { Page } from 'puppeteer-core';
import { findChromium, startBrowser } from '../simulated/inspector-page/support/browser.ts';
import { FakeInspector } from '../simulated/inspector-page/support/fake-inspector.ts';
import { generatePod } from '../simulated/inspector-page/support/generated-pods.ts';
import { pageBundle } from '../simulated/inspector-page/support/page-bundle.ts';

const chromium = findChromium();
if (chromium === undefined) {
  process.stderr.write('needs chromium\n');
  process.exit(1);
}

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  dur?: number;
  /** Time that the thread ran, µs: without the time that others had the core. */
  tdur?: number;
  args?: { name?: string };
}

const manyPods = (count: number) => [
  ...Array.from({ length: count - 2 }, (_, i) =>
    generatePod({
      uid: `uid-${String(i)}`,
      name: `web-${String(i)}`,
      namespace: `team-${String(i % 9)}`,
      steps: 1 + ((i * 5) % 12),
    }),
  ),
  generatePod({ uid: 'long', name: 'long', steps: 100_000 }),
  generatePod({ uid: 'story', name: 'story', steps: 240 }),
];

/** Work of the main thread per frame while `use` runs, ms. */
async function frames(page: Page, use: () => Promise<void>): Promise<Record<string, number>> {
  await page.tracing.start({
    categories: ['disabled-by-default-devtools.timeline', 'devtools.timeline', '__metadata'],
  });
  await use();
  const trace = await page.tracing.stop();
  const events = (JSON.parse(Buffer.from(trace ?? new Uint8Array()).toString('utf8')) as { traceEvents: TraceEvent[] })
    .traceEvents;
  const main = new Set(
    events
      .filter((e) => e.name === 'thread_name' && e.args?.name === 'CrRendererMain')
      .map((e) => `${String(e.pid)} ${String(e.tid)}`),
  );
  // The page in use is the one that does most.
  const byThread = new Map<string, TraceEvent[]>();
  for (const event of events) {
    const thread = `${String(event.pid)} ${String(event.tid)}`;
    if (event.name !== 'RunTask' || !main.has(thread)) continue;
    byThread.set(thread, [...(byThread.get(thread) ?? []), event]);
  }
  const work = (all: TraceEvent[]) => all.reduce((sum, e) => sum + (e.dur ?? 0), 0);
  const tasks = [...byThread.values()].sort((a, b) => work(b) - work(a))[0] ?? [];
  const slots = new Map<number, number>();
  for (const { ts, dur = 0, tdur = dur } of tasks) {
    const slot = Math.floor(ts / 16_667);
    slots.set(slot, (slots.get(slot) ?? 0) + tdur / 1000);
  }
  const busy = [...slots.values()].filter((ms) => ms > 0.3).sort((a, b) => a - b);
  const at = (part: number) =>
    Math.round((busy[Math.min(busy.length - 1, Math.floor(busy.length * part))] ?? 0) * 10) / 10;
  const longest = Math.max(0, ...tasks.map((e) => (e.tdur ?? e.dur ?? 0) / 1000));
  return {
    frames: busy.length,
    p50: at(0.5),
    p95: at(0.95),
    p99: at(0.99),
    longestTask: Math.round(longest * 10) / 10,
    over16: busy.filter((ms) => ms > 16.7).length,
  };
}

async function wheel(page: Page, selector: string, by: number, times: number): Promise<void> {
  const box = await (await page.waitForSelector(selector))?.boundingBox();
  await page.mouse.move((box?.x ?? 0) + 40, (box?.y ?? 0) + 80);
  for (let i = 0; i < times; i++) await page.mouse.wheel({ deltaY: by });
}

const pageFiles = await pageBundle();
const report: Record<string, unknown> = {
  bundle: Object.fromEntries(
    [...pageFiles].map(([name, body]) => [name, { bytes: body.length, gzipped: gzipSync(body).length }]),
  ),
};
for (const count of [1000, 5000]) {
  const fake = new FakeInspector(pageFiles, manyPods(count));
  const address = await fake.start();
  const browser = await startBrowser(chromium);
  try {
    const loads: number[] = [];
    for (let i = 0; i < 4; i++) {
      const page = await browser.open(address);
      await page.waitForSelector('.pod');
      loads.push(Math.round(await page.evaluate(() => performance.now())));
      await page.close();
    }
    const page = await browser.open(`${address}#pod=story`);
    await page.waitForSelector('.chart');
    const press = async (key: 'ArrowLeft' | 'ArrowRight', times: number) => {
      for (let i = 0; i < times; i++) await page.keyboard.press(key);
    };
    const part: Record<string, unknown> = { listShownAfterMs: loads };
    part['scroll the list'] = await frames(page, () => wheel(page, '#pods', 300, 150));
    await page.click('#main');
    part['step with keys, time line'] = await frames(page, () => press('ArrowLeft', 120));
    await page.keyboard.press('2');
    part['step with keys, sequence'] = await frames(page, () => press('ArrowRight', 100));
    await page.keyboard.press('4');
    part['step with keys, status'] = await frames(page, () => press('ArrowLeft', 100));
    part['filter by typing'] = await frames(page, async () => {
      await page.type('#filter', 'team-3 web-1', { delay: 60 });
    });
    const long = await browser.open(`${address}#pod=long`);
    await long.waitForSelector('#step-99999');
    part['scroll 100,000 steps'] = await frames(long, () => wheel(long, '#steps', -400, 150));
    await long.keyboard.press('2');
    await long.waitForSelector('.sstep');
    part['scroll the sequence of 100,000'] = await frames(long, () => wheel(long, '.sequence', -400, 150));
    part['live: 20 pods change 10 times a second'] = await frames(long, async () => {
      for (let i = 0; i < 30; i++) {
        fake.tell({
          type: 'pods',
          pods: [...fake.pods.values()]
            .slice(i * 20, i * 20 + 20)
            .map(({ line }) => ({ ...line, state: 'syncing.running' })),
        });
        await new Promise((done) => setTimeout(done, 100));
      }
    });
    report[`${String(count)} pods`] = part;
  } finally {
    await browser.close();
    await fake.stop();
  }
}
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
