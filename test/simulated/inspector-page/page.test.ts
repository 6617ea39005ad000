import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import type { Page } from 'puppeteer-core';
import type { TestBrowser } from './support/browser.ts';
import { findChromium, startBrowser } from './support/browser.ts';
import { FakeInspector } from './support/fake-inspector.ts';
import { generatePod } from './support/generated-pods.ts';
import { pageBundle } from './support/page-bundle.ts';
import { press } from './support/press.ts';

const chromium = findChromium();
const EVIL = '<script>document.title="owned"</script>';
const PODS = [
  ...Array.from({ length: 1000 }, (_, i) =>
    generatePod({
      uid: `uid-${String(i)}`,
      name: `web-${String(i).padStart(4, '0')}`,
      namespace: `team-${String(i % 7)}`,
      steps: 1 + ((i * 5) % 12),
    }),
  ),
  generatePod({ uid: 'story', name: 'story', steps: 36 }),
  generatePod({ uid: 'moving', name: 'moving', steps: 9 }),
  generatePod({ uid: 'evil', name: EVIL, steps: 12 }),
  generatePod({ uid: 'long', name: 'long', steps: 100_000 }),
  generatePod({ uid: 'big', name: 'big', steps: 5, bigMessage: 1_000_000 }),
];

describe('the inspector page in Chromium', { skip: chromium === undefined ? 'needs chromium' : false }, () => {
  let fake: FakeInspector;
  let address: string;
  let browser: TestBrowser;

  before(async () => {
    fake = new FakeInspector(await pageBundle(), PODS);
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

  const textOf = (page: Page, selector: string) => page.$eval(selector, (el) => el.textContent);
  /** Waits until the chart says that the pod is in this state. */
  const lit = (page: Page, state: string) =>
    page.waitForSelector(`.chart[data-state="${state}"] .state[data-lit="true"][data-path="${state}"]`);
  const stepShown = async (page: Page, step: number) => {
    await page.waitForFunction(
      (n) => document.querySelector('.where b')?.textContent.replace(/\D/g, '') === n,
      {},
      String(step),
    );
  };

  test('the node stands above its pods; its own chart, and the chart of a volume', async () => {
    const made = generatePod({ uid: '@node', name: 'node-a', steps: 4 });
    const states = ['starting', 'starting', 'ready.waitingForSources', 'ready.running'];
    const stateOf = (index: number) => states[index] ?? '';
    fake.node = {
      line: { ...made.line, namespace: '', source: 'node', state: 'ready.running', phase: 'Ready', why: '' },
      step: (i) => ({ ...made.step(i), before: stateOf(i - 1), after: stateOf(i) }),
      detail: (i) => {
        const machines = { pod: stateOf(i), containers: {}, probes: {}, volumes: {} };
        return { ...made.detail(i), machines };
      },
    };
    const page = await browser.open(address);
    await page.waitForSelector('#node');
    assert.equal(await textOf(page, '#node .pod-name'), 'node node-a');
    await press(page, '#node');
    await lit(page, 'ready.running');
    assert.equal(await page.$eval('#node', (el) => el.getAttribute('aria-pressed')), 'true');
    await press(page, '.node-machine button');
    await page.waitForSelector('.transport');
    await lit(page, 'ready.running');
    assert.equal(await page.$eval('#node', (el) => el.getAttribute('aria-pressed')), 'true');
    assert.deepEqual(await page.$$eval('.machine', (all) => all.map((el) => el.getAttribute('title'))), [
      'node node: ready.running',
    ]);
    await page.keyboard.press('ArrowLeft');
    await lit(page, 'ready.waitingForSources');

    const line = {
      ...fake.node.line,
      state: 'notReady.runtimeDown',
      phase: 'NotReady',
      why: 'container runtime is down',
    };
    fake.node = { ...fake.node, line };
    fake.tell({ type: 'node', node: line });
    await page.waitForFunction(() =>
      document.querySelector('#node')?.textContent.includes('container runtime is down'),
    );

    await page.goto(`${address}#pod=story&chart=volume%2Fconf`);
    await page.waitForSelector('.machine[title="volume conf: mounted.upToDate"][aria-pressed="true"]');
    await lit(page, 'mounted.upToDate');
    fake.node = null;
  });

  test('the list is filtered by text and by state, and rows outside the view do not exist', async () => {
    const page = await browser.open(address);
    await page.waitForSelector('.pod');
    assert.ok((await page.$$('.pod')).length < 60);
    await page.type('#filter', 'team-3 web-01');
    await page.waitForFunction(() => document.querySelectorAll('.pod').length === 15);
    const names = await page.$$eval('.pod .pod-name', (all) => all.map((el) => el.getAttribute('title')));
    assert.ok(
      names.every((name) => /^team-3\/web-01/.test(name ?? '')),
      names.join(),
    );
    await press(page, '.chip[title="syncing.running"]');
    await page.waitForFunction(() => document.querySelectorAll('.pod').length < 15);
    assert.deepEqual(
      new Set(await page.$$eval('.pod .pod-why b', (all) => all.map((el) => el.textContent))),
      new Set(['running']),
    );
    await page.type('#filter', ' nothing-like-it');
    await page.waitForSelector('.pods .empty');
    await press(page, '.pods .empty button');
    await page.waitForSelector('.pod');
  });

  test('opening a pod lights its state; keys go through its steps, which the address names', async () => {
    const page = await browser.open(address);
    await page.waitForSelector('.pod');
    await page.type('#filter', 'story');
    await page.waitForFunction(() => document.querySelectorAll('.pod').length === 1);
    await press(page, '.pod');
    await lit(page, 'syncing.crashLoopBackOff');
    await stepShown(page, 36);
    assert.equal(await page.$eval('.live', (el) => el.getAttribute('aria-pressed')), 'true');
    await press(page, '#main');
    await page.keyboard.press('ArrowLeft');
    await stepShown(page, 35);
    await lit(page, 'syncing.running');
    await page.keyboard.press('Home');
    await stepShown(page, 1);
    await lit(page, 'syncing.creatingCgroup');
    for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowRight');
    await lit(page, 'syncing.imageBackOff');
    assert.ok(await page.$('.state[data-was="true"][data-path="syncing.pullingImage"]'));
    assert.ok(await page.$('.way-last'), 'the last transition is marked');
    await page.waitForFunction(() => location.hash === '#pod=story&step=4');
    await page.keyboard.press(']');
    await stepShown(page, 6);
    await page.keyboard.press('l');
    await stepShown(page, 36);
  });

  test('containers and probes have charts of their own, at that moment', async () => {
    const page = await browser.open(`${address}#pod=story&step=4`);
    await page.waitForSelector('.machine[title="container web: starting.imageBackOff"][data-moved="true"]');
    await page.waitForSelector('.machine[title="probe web/readiness: idle"]');
    await press(page, '.machine[title^="container web"]');
    await lit(page, 'starting.imageBackOff');
    await page.waitForFunction(() => location.hash.includes('chart=container%2Fweb'));
  });

  test('a link opens the same moment in another tab', async () => {
    const page = await browser.open(`${address}#pod=story&step=8&view=status`);
    await lit(page, 'syncing.waitingForReadiness');
    await page.waitForSelector('.node[data-change="changed"]');
    const told = () => page.$eval('.tree-rows', (el) => el.textContent);
    const first = await told();
    assert.match(first, /PendingRunning/);
    const second = await browser.open(page.url());
    await lit(second, 'syncing.waitingForReadiness');
    await second.waitForSelector('.node[data-change="changed"]');
    assert.equal(await second.$eval('.tree-rows', (el) => el.textContent), first);
    await stepShown(second, 9);
  });

  test('copying the link gives the moment that is shown', async () => {
    await browser.browser
      .defaultBrowserContext()
      .setPermission(
        address,
        { permission: { name: 'clipboard-write' }, state: 'granted' },
        { permission: { name: 'clipboard-read' }, state: 'granted' },
      );
    const page = await browser.open(`${address}#pod=story`);
    await lit(page, 'syncing.crashLoopBackOff');
    await page.bringToFront();
    await page.keyboard.press('c');
    await page.waitForSelector('.notice[data-shown="true"]');
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), `${address}#pod=story&step=35`);
  });

  test('a live step lights the new state and moves the list; the past stays where it is', async () => {
    fake.replace(generatePod({ uid: 'moving', name: 'moving', steps: 9 }));
    const page = await browser.open(`${address}#pod=moving`);
    await lit(page, 'syncing.waitingForReadiness');
    await page.waitForFunction(() => document.querySelector('.lamp')?.textContent === 'live');
    const past = await browser.open(`${address}#pod=moving&step=2`);
    await lit(past, 'syncing.creatingSandbox');
    await past.waitForFunction(() => document.querySelector('.lamp')?.textContent === 'live');
    fake.replace(generatePod({ uid: 'moving', name: 'moving', steps: 10 }));
    await past.waitForFunction(() => document.querySelector('.where .quiet')?.textContent === '/10');
    await stepShown(past, 3);
    await lit(past, 'syncing.creatingSandbox');
    // A tab in the background draws nothing.
    await page.bringToFront();
    await lit(page, 'syncing.running');
    await stepShown(page, 10);
  });

  test('a name with markup is shown as text', async () => {
    const page = await browser.open(`${address}#pod=evil`);
    await page.waitForSelector('.chart');
    assert.equal(await textOf(page, '.pod-title h2'), `default/${EVIL}`);
    assert.match(await page.title(), /^<script>/);
    assert.equal(await page.$eval('html', (el) => el.querySelectorAll('#app script').length), 0);
    await page.type('#filter', 'owned');
    await page.waitForFunction(() => document.querySelectorAll('.pod').length === 1);
    assert.equal(await textOf(page, '.pod .pod-name'), EVIL);
  });

  test('a pod with 100,000 steps: end, middle, time line and sequence', async () => {
    const page = await browser.open(`${address}#pod=long`);
    await stepShown(page, 100_000);
    await page.waitForSelector('#step-99999[aria-selected="true"]');
    await page.keyboard.press('Home');
    await page.waitForSelector('#step-0[aria-selected="true"] .step-lane');
    assert.ok((await page.$$('.step')).length < 80);
    const second = await browser.open(`${address}#pod=long&step=50000&view=sequence`);
    await second.waitForSelector('.sstep[data-step="50000"][data-active="true"]');
    await lit(second, 'syncing.waitingForReadiness');
    await second.keyboard.press('ArrowLeft');
    await second.waitForSelector('.sstep[data-step="49999"][data-active="true"]');
    assert.ok((await second.$$('.sstep')).length < 200);
  });

  test('a message of 1 MB is opened bit by bit', async () => {
    const page = await browser.open(`${address}#pod=big&step=3&view=message`);
    await page.waitForSelector('.node .long');
    assert.ok((await page.$eval('.tree-rows', (el) => el.textContent.length)) < 5000);
    await press(page, '.node .long');
    await page.waitForSelector('.long-text pre');
    assert.equal(await page.$eval('.long-text pre', (el) => el.textContent.length), 20_000);
    await press(page, '.long-text > button');
    await page.waitForFunction(() => document.querySelector('.long-text pre')?.textContent.length === 40_000);
  });

  test('changes of a step are marked, searched and narrowed', async () => {
    const page = await browser.open(`${address}#pod=story&step=3&view=status`);
    await page.waitForSelector('.node[data-change="added"]');
    assert.match((await textOf(page, '.node[data-change="added"]')) ?? '', /podIP/);
    await press(page, '.tree-head .chip');
    await page.waitForSelector('.tree-head .chip[aria-pressed="true"]');
    await page.waitForFunction(() => document.querySelectorAll('.node').length === 1);
    await press(page, '.tree-head .chip');
    // Typing begins once the whole tree is back: keys that come in the frame of its return are lost now and then.
    await page.waitForSelector('.tree-head .chip[aria-pressed="false"]');
    await page.waitForFunction(() => document.querySelectorAll('.node').length > 1);
    await page.type('.tree-head input', 'restartCount');
    await page.waitForSelector('.node[data-hit="true"]');
    assert.match((await textOf(page, '.node[data-hit="true"]')) ?? '', /restartCount/);
  });

  test('the keyboard alone finds a pod, opens it, travels and plays', async () => {
    const page = await browser.open(address);
    await page.waitForSelector('.pod');
    await page.keyboard.press('/');
    await page.keyboard.type('team-2');
    await page.waitForFunction(() => document.querySelector('.pods-sort .quiet')?.textContent.startsWith('143 of'));
    await page.keyboard.press('ArrowDown');
    for (let i = 0; i < 30; i++) await page.keyboard.press('ArrowDown');
    const chosen = await page.$eval('#pods', (el) => el.getAttribute('aria-activedescendant'));
    await page.keyboard.press('Enter');
    await page.waitForSelector(`#${chosen ?? ''}[aria-selected="true"]`);
    await page.keyboard.press('?');
    await page.waitForSelector('dialog[open]');
    await page.keyboard.press('Escape');
    await page.waitForSelector('dialog:not([open])');
    await page.evaluate(() => {
      location.hash = '#pod=story&step=0';
    });
    await stepShown(page, 1);
    for (let i = 0; i < 12; i++) await page.keyboard.press('+');
    assert.equal(await textOf(page, '.speed output'), '1000×');
    await page.keyboard.press(' ');
    await stepShown(page, 36);
    await page.waitForSelector('.play[aria-label="Play"]');
    await page.keyboard.press('2');
    await page.waitForSelector('.sequence');
    await page.keyboard.press('7');
    await page.waitForFunction(() =>
      document.querySelector('.explain-summary')?.textContent.startsWith('in syncing.crashLoopBackOff'),
    );
    await page.keyboard.press('w');
    await page.waitForSelector('.page[data-wide="true"]');
  });

  test('dark and light follow the system or the choice; less motion is respected', async () => {
    const page = await browser.open(`${address}#pod=story&step=4`);
    await page.waitForSelector('.way-run');
    const ground = () => page.$eval('body', (el) => getComputedStyle(el).backgroundColor);
    await page.emulateMediaFeatures([
      { name: 'prefers-color-scheme', value: 'dark' },
      { name: 'prefers-reduced-motion', value: 'reduce' },
    ]);
    const dark = await ground();
    assert.equal(await page.$eval('.way-run', (el) => getComputedStyle(el).animationName), 'none');
    await page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value: 'light' }]);
    const light = await ground();
    assert.notEqual(dark, light);
    assert.notEqual(await page.$eval('.way-run', (el) => getComputedStyle(el).animationName), 'none');
    await page.keyboard.press('t');
    assert.equal(await ground(), dark);
    await page.reload();
    assert.equal(await ground(), dark);
    await page.keyboard.press('t');
    assert.equal(await ground(), light);
  });

  test('a server that goes away is told, and found again by itself', async () => {
    const page = await browser.open(`${address}#pod=story&step=4`, /net::ERR_|WebSocket connection/);
    await lit(page, 'syncing.imageBackOff');
    await page.waitForFunction(() => document.querySelector('.lamp')?.textContent === 'live');
    await fake.stop();
    await page.waitForFunction(() => /disconnected|again/.test(document.querySelector('.lamp')?.textContent ?? ''));
    assert.ok(await page.$('.chart .state[data-lit="true"]'), 'what was loaded stays');
    await fake.start();
    await page.waitForFunction(() => document.querySelector('.lamp')?.textContent === 'live');
  });

  test('pods and steps that do not exist are told as such', async () => {
    const page = await browser.open(`${address}#pod=nobody`, /status of 404/);
    await page.waitForFunction(() => document.querySelector('main .empty-title')?.textContent === 'No such pod');
  });
});
