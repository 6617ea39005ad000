/**
 * Makes docs/pictures/inspector-*.png anew from a real node with a handful of pods:
 * `node test/containerd/inspector/take-pictures.ts [FOLDER]`, as root, with containerd and chromium. Takes about a minute.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { Page } from 'puppeteer-core';
import { findChromium, startBrowser } from '../../simulated/inspector-page/support/browser.ts';
import type { TestBrowser } from '../../simulated/inspector-page/support/browser.ts';
import { isReady } from '../agent/support/seen.ts';
import { NODE_NAME } from '../agent/support/test-node.ts';
import type { TestNode } from '../agent/support/test-node.ts';
import { podOf, runs, shell } from '../agent/support/test-pod.ts';
import { waitFor } from '../../tools/wait-for.ts';
import { gateOf, gateVolume, killContainer, startInspectedNode } from './support/inspected-node.ts';
import { palettePng } from './support/palette-png.ts';

/** A picture in the README stays below this, bytes. */
const MAX_BYTES = 200_000;
const FOLDER = resolve(process.argv[2] ?? join(import.meta.dirname, '../../../docs/pictures'));
const probe = { exec: { command: ['true'] }, periodSeconds: 5 };

/** Pods in states that one meets: running, initializing, no image, crashing. */
async function makePods(node: TestNode): Promise<void> {
  const gate = join(node.rootDir, 'gate');
  await mkdir(gate);
  const { volumes, volumeMounts } = gateVolume(gate);
  const wait = (name: string, file: string) => shell(name, gateOf(file), { volumeMounts });
  await node.write('web.json', podOf('web', [runs('serve', { readinessProbe: probe }), runs('proxy')], {}));
  await node.write('cache.json', podOf('cache', [runs('store', { livenessProbe: probe })]));
  await node.write('mail.json', podOf('mail', [shell('queue', 'sleep 1; echo no disk; exit 3'), runs('relay')]));
  await node.write('search.json', podOf('search', [runs('index', { image: '127.0.0.1:1/shop/search:2.4' })]));
  await node.write(
    'reports.json',
    podOf('reports', [runs('print')], { volumes, initContainers: [wait('migrate', 'never')] }),
  );
  const init = [wait('fetch', 'open'), shell('prepare', 'sleep 1')];
  await node.write(
    'shop.json',
    podOf('shop', [runs('serve', { readinessProbe: probe }), runs('proxy')], { volumes, initContainers: init }),
  );
  for (const pod of ['web', 'cache']) await node.waitPod(pod, 'ready', isReady);
  await writeFile(join(gate, 'open'), '');
  await node.waitPod('shop', 'ready', isReady);
  await killContainer(node, 'shop', 'serve');
  await killContainer(node, 'shop', 'serve');
  await inState(node, 'search', 'syncing.imageBackOff');
  await inState(node, 'shop', 'syncing.crashLoopBackOff');
}

const inState = (node: TestNode, pod: string, state: string) =>
  waitFor(`${pod} in ${state}`, async () => ((await node.machineState(pod)) === state ? true : undefined));

/** Clicks the row of a pod. */
async function openPod(page: Page, pod: string): Promise<void> {
  const row = `.pod-name[title="default/${pod}-${NODE_NAME}"]`;
  await page.waitForSelector(row);
  await page.click(row);
  await page.waitForSelector('.chart .state[data-lit="true"]');
  await page.focus('#main');
}

/** Waits until each pod that waits is told of in the words of `explain`, which come after the list. */
async function explained(page: Page): Promise<void> {
  await page.waitForSelector('.fleet .band');
  await page.waitForFunction(
    `[...document.querySelectorAll('.wait')].length > 2 && [...document.querySelectorAll('.wait')].every((el) => el.title.includes('since'))`,
  );
}

/** Goes to the last change of the pod's state into `state`. */
async function goToState(page: Page, state: string): Promise<void> {
  for (let i = 0; i < 100; i++) {
    if ((await page.$(`.chart[data-state="${state}"]`)) !== null) return;
    const before = await page.evaluate(`document.querySelector('.where b')?.textContent`);
    await page.keyboard.press('[');
    await page.waitForFunction(`document.querySelector('.where b')?.textContent !== '${String(before)}'`);
  }
  throw new Error(`${state} was never entered`);
}

async function take(page: Page, name: string): Promise<void> {
  await page.bringToFront();
  // Nothing is focused or under the pointer.
  await page.evaluate('document.activeElement?.blur()');
  await page.mouse.move(720, 4);
  // A chart may have been scrolled to its lit state.
  await page.evaluate(`document.querySelector('.picture')?.scrollTo(0, 0)`);
  // The way of the last transition is drawn for a moment.
  await new Promise((done) => setTimeout(done, 1500));
  const png = palettePng(await page.screenshot({ optimizeForSpeed: false }));
  const path = join(FOLDER, `inspector-${name}.png`);
  await writeFile(path, png);
  process.stdout.write(`${path} ${String(png.length)} bytes\n`);
  if (png.length > MAX_BYTES) {
    process.stderr.write(`that is larger than ${String(MAX_BYTES)} bytes\n`);
    process.exitCode = 1;
  }
}

async function takeAll(browser: TestBrowser, address: string): Promise<void> {
  const scheme = (page: Page, value: 'dark' | 'light') =>
    page.emulateMediaFeatures([{ name: 'prefers-color-scheme', value }]);
  const page = await browser.open(address);
  await scheme(page, 'light');
  await explained(page);
  await take(page, 'node');

  await scheme(page, 'dark');
  await openPod(page, 'shop');
  await goToState(page, 'syncing.crashLoopBackOff');
  await take(page, 'timeline');

  await page.keyboard.press('4');
  await goToState(page, 'syncing.running');
  await page.waitForSelector('.node[data-change]');
  await page.type('#filter', 'backoff');
  await page.focus('#main');
  await take(page, 'status');
  await page.focus('#filter');
  await page.keyboard.press('Escape');
  await page.focus('#main');

  await scheme(page, 'light');
  await page.keyboard.press('2');
  await page.waitForSelector('.sstep[data-active="true"]');
  await take(page, 'sequence');

  await page.keyboard.press('1');
  await openPod(page, 'search');
  await goToState(page, 'syncing.imageBackOff');
  await page.keyboard.press('7');
  await page.waitForSelector('.explain[data-stale="false"]');
  await take(page, 'explain');
}

const chromium = findChromium();
if (chromium === undefined) throw new Error('needs chromium');
await mkdir(FOLDER, { recursive: true });
const { node, address } = await startInspectedNode();
try {
  await makePods(node);
  const browser = await startBrowser(chromium);
  try {
    await takeAll(browser, address);
  } finally {
    await browser.close();
  }
} finally {
  await node.stop();
}
