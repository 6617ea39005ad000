import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { Page } from 'puppeteer-core';
import { findChromium, startBrowser } from '../../simulated/inspector-page/support/browser.ts';
import type { TestBrowser } from '../../simulated/inspector-page/support/browser.ts';
import { isReady } from '../agent/support/seen.ts';
import { podOf, runs, shell } from '../agent/support/test-pod.ts';
import { NODE_NAME } from '../agent/support/test-node.ts';
import type { TestNode } from '../agent/support/test-node.ts';
import { PATIENCE_MS } from '../../tools/wait-for.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { gateOf, gateVolume, killContainer, startInspectedNode } from './support/inspected-node.ts';

const chromium = findChromium();
const POD = 'web';
const ROW = `.pod-name[title="default/${POD}-${NODE_NAME}"]`;

describe('the inspector of a real node in Chromium', { skip: chromium === undefined && 'needs chromium' }, () => {
  let clean: MachineState;
  let node: TestNode | undefined;
  let address: string;
  let browser: TestBrowser | undefined;

  before(async () => {
    clean = await machineState();
    const inspected = await startInspectedNode();
    ({ node, address } = inspected);
    browser = await startBrowser(chromium ?? '');
  });
  after(async () => {
    await browser?.close();
    await node?.stop();
    await assertNothingLeft(clean);
  });

  /** The words of the first such element, '' without one. */
  const textOf = async (page: Page, selector: string) =>
    String(await page.evaluate(`document.querySelector(${JSON.stringify(selector)})?.textContent ?? ''`));
  /** Waits until an expression holds in the page; says what the page shows when it never does. */
  const holds = async (page: Page, expression: string) => {
    try {
      await page.waitForFunction(expression, { timeout: PATIENCE_MS });
    } catch (cause) {
      const shown = `${await textOf(page, '.pod-head')} | ${await textOf(page, '.pods-rows')}`;
      throw new Error(`waited in vain for ${expression}; the page shows ${shown}`, { cause });
    }
  };
  const isThere = (page: Page, selector: string) =>
    holds(page, `document.querySelector(${JSON.stringify(selector)}) !== null`);
  /** Waits until the chart has this state lit, with the states that it is nested in. */
  const lit = async (page: Page, state: string) => {
    await isThere(page, `.chart[data-state="${state}"] .state[data-lit="true"][data-path="${state}"]`);
    const parent = state.slice(0, state.lastIndexOf('.'));
    await isThere(page, `.chart .compound[data-lit="true"][data-path="${parent}"]`);
  };
  /** Waits until the list has the pod in this state: that is its state now, whatever moment the page is at. */
  const listed = (page: Page, state: string) =>
    holds(
      page,
      `document.querySelector(${JSON.stringify(ROW)})?.closest('.pod')?.querySelector('.pod-why b')?.textContent === '${state}'`,
    );
  const numberIn = async (page: Page, selector: string) => Number((await textOf(page, selector)).replace(/\D/g, ''));
  const stepShown = (page: Page) => numberIn(page, '.where b');

  test('a pod is found, watched, killed, gone back over, and shown to somebody else', async () => {
    assert.ok(node !== undefined && browser !== undefined);
    await browser.browser
      .defaultBrowserContext()
      .setPermission(
        new URL(address).origin,
        { permission: { name: 'clipboard-write' }, state: 'granted' },
        { permission: { name: 'clipboard-read' }, state: 'granted' },
      );
    const page = await browser.open(address);
    await holds(page, `document.querySelector('.lamp')?.textContent === 'live'`);
    assert.equal(new URL(page.url()).search, '', 'the token is not in the address any more');

    // The pod comes while the page is open, and its init container runs until the gate is open.
    const gate = join(node.rootDir, 'gate');
    await mkdir(gate);
    const { volumes, volumeMounts } = gateVolume(gate);
    const prepare = shell('prepare', gateOf('open'), { volumeMounts });
    await node.write('other.json', podOf('other', [runs('a')]));
    await node.write(`${POD}.json`, podOf(POD, [runs('serve')], { volumes, initContainers: [prepare] }));
    await holds(page, `document.querySelectorAll('.pod').length === 2`);
    await page.type('#filter', POD);
    await holds(page, `document.querySelectorAll('.pod').length === 1`);
    await page.click('.pod');
    await lit(page, 'syncing.initializing');
    await isThere(page, '.machine[title="container prepare: running"]');
    await isThere(page, '.machine[title="container serve: waiting"]');

    await writeFile(join(gate, 'open'), '');
    await lit(page, 'syncing.running');
    await node.waitPod(POD, 'ready', isReady);
    await isThere(page, '.machine[title="container serve: running"]');

    // The first crash is answered with a start at once, the second with a delay of 10 s.
    await killContainer(node, POD, 'serve');
    await killContainer(node, POD, 'serve');
    await lit(page, 'syncing.crashLoopBackOff');
    await isThere(page, '.machine[title="container serve: backingOff"]');
    await isThere(page, '.way-last');
    await page.keyboard.press('7');
    await holds(page, `document.querySelector('.explain-summary')?.textContent.includes('serve') === true`);
    assert.match(await textOf(page, '.explain-summary'), /back-?off/i);
    assert.match(await textOf(page, '.causes'), /137/, 'the chain of causes has the exit code of kill -9');

    // Back in time by the changes of the state; what the node does meanwhile moves the list, not the chart.
    const crashed = await stepShown(page);
    await page.focus('#main');
    await page.keyboard.press('ArrowLeft');
    await holds(page, `document.querySelector('.live')?.getAttribute('aria-pressed') === 'false'`);
    assert.ok((await stepShown(page)) < (await numberIn(page, '.where .quiet')), 'a step back');
    await page.keyboard.press('Home');
    await holds(page, `document.querySelector('.where b')?.textContent === '1'`);
    while ((await textOf(page, '.badge')) !== 'syncing.initializing') {
      const before = await stepShown(page);
      await page.keyboard.press(']');
      await holds(page, `document.querySelector('.where b')?.textContent !== '${String(before)}'`);
    }
    await lit(page, 'syncing.initializing');
    const past = await stepShown(page);
    const state = await textOf(page, '.badge');
    await listed(page, 'running');
    await killContainer(node, POD, 'serve');
    await listed(page, 'crashLoopBackOff');
    await lit(page, 'syncing.initializing');
    assert.equal(await stepShown(page), past);
    assert.ok((await numberIn(page, '.where .quiet')) > crashed, 'the live end has moved on');

    // The link of that moment, in another tab.
    await page.bringToFront();
    await page.keyboard.press('c');
    await isThere(page, '.notice[data-shown="true"]');
    const link = String(await page.evaluate('navigator.clipboard.readText()'));
    assert.match(link, new RegExp(`^${new URL(address).origin}/#pod=[^&]+&step=${String(past - 1)}&view=explain$`));
    await isThere(page, '.explain[data-stale="false"]');
    const told = await textOf(page, '.explain-summary');
    const second = await browser.open(link);
    await lit(second, 'syncing.initializing');
    await isThere(second, '.explain[data-stale="false"]');
    assert.equal(await stepShown(second), past);
    assert.equal(await textOf(second, '.badge'), state);
    assert.equal(await textOf(second, '.explain-summary'), told);

    // To the newest step again.
    await second.keyboard.press('l');
    await holds(second, `document.querySelector('.live')?.getAttribute('aria-pressed') === 'true'`);
    // the delay after the crash may be over by now; after this one it is longer
    await killContainer(node, POD, 'serve');
    await lit(second, 'syncing.crashLoopBackOff');
    assert.deepEqual(await browser.closePages(), [], 'nothing in the console, no refused resource, no exception');
  });
});
