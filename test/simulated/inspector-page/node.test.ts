import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Page } from 'puppeteer-core';
import type { TestBrowser } from './support/browser.ts';
import { findChromium, startBrowser } from './support/browser.ts';
import { FakeInspector } from './support/fake-inspector.ts';
import { fakePressure } from './support/fake-pressure.ts';
import type { GeneratedPod } from './support/generated-pods.ts';
import { generatePod } from './support/generated-pods.ts';
import { pageBundle } from './support/page-bundle.ts';
import { press } from './support/press.ts';

const chromium = findChromium();
const SPANS = 90;

/** A node that was starting, and now runs. */
function makeNode(): GeneratedPod {
  const made = generatePod({ uid: '@node', name: 'node-a', steps: 3 });
  const states = ['starting', 'ready.waitingForSources', 'ready.running'];
  const stateOf = (index: number) => states[index] ?? '';
  return {
    line: { ...made.line, namespace: '', source: 'node', state: 'ready.running', phase: 'Ready', why: '' },
    step: (i) => ({ ...made.step(i), before: stateOf(i - 1), after: stateOf(i) }),
    detail: (i) => ({
      ...made.detail(i),
      machines: { pod: stateOf(i), containers: {}, probes: {}, volumes: {} },
    }),
  };
}

/** Admission, in which a resize waits from its last message on. */
function makeAdmission(steps: number, why: string): GeneratedPod {
  const made = generatePod({ uid: '@admission', name: 'admission', steps });
  const stateOf = (index: number) => (index === steps - 1 && why !== '' ? 'resizesWait' : index < 0 ? '' : 'settled');
  return {
    line: { ...made.line, namespace: '', source: 'machine', state: stateOf(steps - 1), phase: '', why },
    step: (i) => ({
      ...made.step(i),
      ...{ message: 'pod.asks', summary: `default/web-${String(i)}`, before: stateOf(i - 1), after: stateOf(i) },
      effects: [{ type: 'pod.refuse', key: '', to: 'supervisor', summary: 'OutOfcpu' }],
    }),
    detail: (i) => ({
      ...made.detail(i),
      machines: { pod: stateOf(i), containers: {}, probes: {}, volumes: {} },
      context: { waiting: ['uid-a'] },
    }),
  };
}

const PODS = () => [
  ...Array.from({ length: 3_000 }, (_, i) =>
    generatePod({ uid: `uid-${String(i)}`, name: `web-${String(i)}`, steps: 10 }),
  ),
  generatePod({ uid: 'story', name: 'story', steps: 36 }),
  generatePod({ uid: 'moving', name: 'moving', steps: 3 }),
  ...Array.from({ length: 13 }, (_, i) =>
    generatePod({ uid: `stuck-${String(i)}`, name: `stuck-${String(i)}`, steps: 5 }),
  ),
];

describe('the node on the inspector page', { skip: chromium === undefined ? 'needs chromium' : false }, () => {
  let bundle: Map<string, Buffer>;
  let fake: FakeInspector;
  let address: string;
  let browser: TestBrowser;

  before(async () => {
    bundle = await pageBundle();
    fake = new FakeInspector(bundle, PODS());
    fake.node = makeNode();
    fake.machines.set('@admission', makeAdmission(4, ''));
    address = await fake.start();
    browser = await startBrowser(chromium ?? '');
  });
  after(async () => {
    await browser.close();
    await fake.stop();
  });
  afterEach(async () => {
    assert.deepEqual(await browser.closePages(), [], 'nothing in the console, no refused resource, no exception');
  });

  const lit = (page: Page, state: string) =>
    page.waitForSelector(`.chart[data-state="${state}"] .state[data-lit="true"][data-path="${state}"]`);
  const legend = (page: Page) =>
    page.$$eval('.fleet-legend li', (all) => all.map((el) => el.textContent.replace(/[^a-z0-9 ]/g, '')));
  const told = (page: Page, what: string) =>
    page.waitForFunction(
      (text) => [...document.querySelectorAll('.fleet-legend li')].some((el) => el.textContent.includes(text)),
      {},
      what,
    );
  const hash = (page: Page, pattern: RegExp) =>
    page.waitForFunction((source) => new RegExp(source).test(location.hash), {}, pattern.source);

  test('nothing chosen: the machine, pods over time, what waits with why, slow calls', async () => {
    const page = await browser.open(address);
    await lit(page, 'ready.running');
    assert.deepEqual(await legend(page), ['failing 2', 'waiting 0', 'stopping 0', 'ended 0', 'running 890']);
    assert.deepEqual(await page.$$eval('.fleet .band', (all) => all.map((el) => el.getAttribute('data-tone'))), [
      'ok',
      'wait',
      'fail',
    ]);
    const waiting = () => page.$$eval('.wait', (all) => all.map((el) => el.querySelector('.row-name')?.textContent));
    assert.deepEqual((await waiting()).length, 5);
    assert.equal(await page.$eval('.waiting h3 .mono', (el) => el.textContent), '15');
    await page.waitForFunction(() =>
      [...document.querySelectorAll<HTMLElement>('.wait')].every(({ title, textContent }) => {
        const words = /^in \S+ after (.+)$/.exec(title)?.[1];
        return words !== undefined && textContent.includes(words);
      }),
    );
    await press(page, '.waiting h3 button');
    assert.deepEqual((await waiting()).length, 12);
    assert.deepEqual(await page.$$eval('.call', (all) => all.map((el) => el.getAttribute('data-outcome'))), [
      'failed',
      'underWay',
      'done',
    ]);
    assert.match(await page.$eval('.call', (el) => el.textContent), /image\.Pull.*story.*✕ 1m1s/);
  });

  test('pressure: each signal with its thresholds and its way, who would go first, and a pod that is chosen there', async () => {
    fake.pressure = fakePressure(fake.end, 330);
    const page = await browser.open(address);
    await page.waitForSelector('.pressure tr[data-signal="memory.available"]');
    const row = (signal: string) =>
      page.$eval(`.pressure tr[data-signal="${signal}"]`, (el) => [el.getAttribute('data-tone'), el.textContent]);
    const [tone, memory] = await row('memory.available');
    assert.equal(tone, 'wait');
    // 8 GiB less 330 s of 20 MiB/s: 1.6 GiB, under the soft threshold, half a minute before the hard one.
    assert.match(memory ?? '', /1\.6Gi of 16Gi-20Mi\/shard 1Gi in 2\d(\.\d)? ssoft 2Gi for 1m30s now/);
    assert.deepEqual((await row('nodefs.available'))[0], 'ok');
    assert.equal((await page.$$('.pressure tr[data-signal="memory.available"] .way .limit')).length, 2);
    const names = (resource: string) =>
      page.$$eval(`.ranking[data-resource="${resource}"] .row-name`, (all) => all.map((el) => el.textContent));
    assert.deepEqual(await names('memory'), ['default/story', 'default/core', 'default/moving']);
    assert.match(
      await page.$eval('.ranking[data-resource="memory"] [data-critical="true"]', (el) => el.textContent),
      /critical: never evicted/,
    );
    assert.match(
      await page.$eval('.pressure .spare', (el) => el.textContent),
      /could give back 3 ended containers and 12 unused images of 1\.3Gi before a pod goes/,
    );
    await press(page, '.ranking[data-resource="memory"] .row');
    await hash(page, /^#pod=story$/);
    fake.pressure = null;
  });

  test('what is given away: who has it, since when, what is left, and a pod that is chosen there', async () => {
    const since = new Date(fake.end - 90_000).toISOString();
    const row = {
      uid: 'story',
      pod: 'default/story',
      container: 'main',
      cpus: '2-3',
      memory: ['memory 64Mi of node 0'],
    };
    fake.resources = {
      shared: '0-1',
      free: [{ node: 0, resource: 'memory', bytes: 2 ** 30, of: 2 ** 31 }],
      rows: [{ ...row, devices: ['example.com/gpu a,b', 'claim card: gpu.example.com/pool/0'], since }],
      more: 3,
    };
    const page = await browser.open(address);
    await page.waitForSelector('.resources tbody tr');
    const cells = await page.$$eval('.resources tbody tr > *', (all) => all.map((el) => el.textContent));
    assert.deepEqual(cells.slice(0, 4), ['default/story', 'main', '2-3', 'memory 64Mi of node 0']);
    assert.equal(cells[4], 'example.com/gpu a,bclaim card: gpu.example.com/pool/0');
    assert.match(cells[5] ?? '', /^1m30s ago$/);
    const text = await page.$eval('.resources', (el) => el.textContent);
    assert.match(text, /shared by all others: CPUs 0-1/);
    assert.match(text, /and 3 pods more/);
    assert.match(text, /node 0: memory 1Gi of 2Gi free/);
    await press(page, '.resources tbody button');
    await hash(page, /^#pod=story$/);
    fake.resources = null;
  });

  test('a row of what waits chooses the pod; a call leads to its moment of its pod', async () => {
    const page = await browser.open(address);
    await page.waitForSelector('.wait');
    const name = (await page.$eval('.wait .row-name', (el) => el.textContent)).split('/')[1] ?? '';
    await press(page, '.wait');
    await page.waitForFunction((text) => document.querySelector('.pod-title h2')?.textContent.endsWith(text), {}, name);
    await hash(page, new RegExp(`^#pod=${name}$`));
    await page.goBack();
    await page.waitForSelector('.call');
    await press(page, '.call');
    await hash(page, /^#pod=story&step=4$/);
    await lit(page, 'syncing.imageBackOff');
  });

  test('the slider, the arrow keys and a link go to a moment; l and End come back to the newest', async () => {
    const page = await browser.open(address);
    await lit(page, 'ready.running');
    fake.asked.length = 0;
    await page.keyboard.press('ArrowLeft');
    await told(page, 'running 880');
    await hash(page, /^#node&at=\d+$/);
    await page.waitForSelector('.fleet-cursor');
    assert.equal(await page.$eval('.fleet .live', (el) => el.getAttribute('aria-pressed')), 'false');
    await page.keyboard.press('Home');
    await told(page, 'running 0');
    await lit(page, 'starting');
    const slider = '.fleet input';
    const box = (await (await page.$(slider))?.boundingBox()) ?? assert.fail('no slider');
    await page.mouse.click(box.x + box.width * 0.55, box.y + box.height / 2);
    await lit(page, 'ready.running');
    const at = Number(await page.$eval(slider, (el) => (el as HTMLInputElement).value));
    const value = Math.floor((at - (fake.end - SPANS * 1_000)) / 1_000);
    assert.ok(Math.abs(value - 0.55 * SPANS) <= 1, String(value));
    await page.mouse.move(box.x + 20, box.y - 40);
    await told(page, `running ${String(value * 10)}`);
    await hash(page, new RegExp(`at=${String(at)}$`));
    const other = await browser.open(page.url());
    await told(other, `running ${String(value * 10)}`);
    assert.ok(fake.asked.some((path) => /^\/api\/overview\?at=\d+$/.test(path)));
    await other.keyboard.press('l');
    await told(other, 'running 890');
    await hash(other, /^#node$/);
    await page.bringToFront();
    await page.focus(slider);
    await page.keyboard.press('ArrowRight');
    await told(page, `running ${String((value + 1) * 10)}`);
    await page.keyboard.press('End');
    await told(page, 'running 890');
  });

  test('pointing into the chart tells that moment without going there', async () => {
    const page = await browser.open(address);
    await told(page, 'running 890');
    const box = (await (await page.$('.fleet input'))?.boundingBox()) ?? assert.fail('no slider');
    await page.mouse.move(box.x + box.width * 0.1 + 2, box.y + 30);
    await told(page, 'running 90');
    await page.mouse.move(box.x, box.y - 60);
    await told(page, 'running 890');
    assert.equal(new URL(page.url()).hash, '');
  });

  test('the key n, the entry above the pods and the way back of the browser come to the node; the keys are listed', async () => {
    const page = await browser.open(`${address}#pod=story&step=4`);
    await lit(page, 'syncing.imageBackOff');
    await page.keyboard.press('n');
    await page.waitForSelector('.node-page .fleet-plot');
    await hash(page, /^#node$/);
    await page.goBack();
    await lit(page, 'syncing.imageBackOff');
    await press(page, '#node');
    await page.waitForSelector('.node-page .fleet-plot');
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    const help = await page.$$eval('dialog dl > div', (all) => all.map((el) => el.textContent));
    assert.ok(
      help.some((text) => /^nthe node/.test(text)),
      help.join('; '),
    );
  });

  test('what changes is shown while the page is open, and a past moment stays where it is', async () => {
    const page = await browser.open(address);
    await page.waitForFunction(() => document.querySelector('.lamp')?.textContent === 'live');
    await page.waitForSelector('.wait');
    assert.equal(await page.$eval('.waiting h3 .mono', (el) => el.textContent), '15');
    fake.replace(generatePod({ uid: 'stuck-3', name: 'stuck-3', steps: 10 }));
    await page.waitForFunction(() => document.querySelector('.waiting h3 .mono')?.textContent === '14');
    await page.keyboard.press('Home');
    await told(page, 'running 0');
    await hash(page, /^#node&at=\d+$/);
    const before = page.url();
    fake.replace(generatePod({ uid: 'stuck-3', name: 'stuck-3', steps: 5 }));
    await page.waitForFunction(() => document.querySelector('.waiting h3 .mono')?.textContent === '15');
    assert.deepEqual((await legend(page)).at(-1), 'running 0');
    assert.equal(page.url(), before);
  });

  test('the other machines of the node: state, why, last messages; one leads to its steps, and news are shown', async () => {
    const page = await browser.open(address);
    const row = '[data-machine="@admission"]';
    const heard = () => page.$$eval(`${row} .heard`, (all) => all.map((el) => el.textContent.replace(/^\S+ /, '')));
    await page.waitForSelector(`${row} .heard`);
    assert.match(await page.$eval(`${row} .single`, (el) => el.textContent), /^admission.*settled $/);
    const line = (i: number) => `pod.asks default/web-${String(i)} → pod.refuse OutOfcpu`;
    assert.deepEqual(await heard(), [line(3), line(2), line(1)]);

    const news = makeAdmission(5, 'default/web: not enough cpu');
    fake.machines.set('@admission', news);
    await page.waitForFunction(() => document.querySelector('.lamp')?.textContent === 'live');
    fake.tell({ type: 'machines', machines: [news.line] });
    await page.waitForFunction(
      (of) => document.querySelector(`${of} .single`)?.textContent.includes('resizesWait default/web: not enough cpu'),
      {},
      row,
    );
    assert.deepEqual(await heard(), [line(4), line(3), line(2)]);

    await press(page, `${row} .last li:nth-child(2) .heard`);
    await hash(page, /^#pod=(@|%40)admission&step=3$/);
    await page.waitForFunction(() => document.querySelector('.pod-title h2')?.textContent === 'machine admission');
    await page.waitForFunction(() => document.querySelector('.chart-box')?.textContent.includes('Context shows'));
    await page.waitForFunction(() => document.querySelector('.badge')?.getAttribute('data-state') === 'settled');
    const other = await browser.open(page.url());
    await other.waitForFunction(() => document.querySelector('.pod-title h2')?.textContent === 'machine admission');
    const count = await page.$eval('.top-count', (el) => el.textContent.replace(/\D/g, ''));
    assert.equal(count, String(fake.pods.size), 'it is no pod of the list');
    fake.machines.set('@admission', makeAdmission(4, ''));
  });

  test('at each width and in either scheme nothing is cut or overlaps', async () => {
    const page = await browser.open(address);
    await page.waitForSelector('.call');
    for (const [width, height] of [
      [1280, 800],
      [1000, 700],
      [600, 900],
      [380, 700],
    ] as const) {
      await page.setViewport({ width, height });
      await page.waitForFunction((w) => innerWidth === w, {}, width);
      const wide = await page.evaluate(() => ({
        page: document.documentElement.scrollWidth - innerWidth,
        main:
          (document.querySelector('.node-page')?.scrollWidth ?? 0) - (document.querySelector('main')?.clientWidth ?? 0),
      }));
      assert.deepEqual(wide, { page: 0, main: 0 }, `${String(width)} px: nothing is wider than its place`);
      const boxes = await page.$$eval('.fleet, .node-machine, .waiting, .calls, .singles', (all) =>
        all.map((el) => el.getBoundingClientRect().toJSON() as DOMRect),
      );
      for (const [i, a] of boxes.entries())
        for (const b of boxes.slice(i + 1)) {
          const over =
            Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 &&
            Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
          assert.ok(!over, `${String(width)} px: parts overlap`);
        }
    }
    await page.setViewport({ width: 1280, height: 800 });
    const fill = () => page.$eval('.band[data-tone="fail"]', (el) => getComputedStyle(el).fill);
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'dark' }]);
    const dark = await fill();
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
    assert.notEqual(await fill(), dark);
  });

  test('journals without a log of the node: pods, calls and what waits, and a way back', async () => {
    const other = new FakeInspector(bundle, PODS().slice(-5));
    const where = await other.start();
    try {
      const page = await browser.open(where);
      await page.waitForSelector('.wait');
      assert.equal(await page.$('.node-machine'), null);
      await press(page, '.wait');
      await page.waitForSelector('.transport');
      await press(page, '#node');
      await page.waitForSelector('.wait');
    } finally {
      for (const page of (await browser.browser.pages()).slice(1)) await page.close();
      await other.stop();
    }
  });
});
