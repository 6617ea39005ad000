import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'puppeteer-core';
import { launch } from 'puppeteer-core';

/** Chromium of this machine: `CHROMIUM`, or what is on the path; undefined when there is none. */
export function findChromium(): string | undefined {
  const named = process.env['CHROMIUM'];
  if (named !== undefined && named !== '') return existsSync(named) ? named : undefined;
  for (const name of ['chromium', 'chromium-browser', 'google-chrome']) {
    try {
      return execFileSync('which', [name], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      // The next name.
    }
  }
  return undefined;
}

/** A browser of one test file, and what its pages complained about. */
export interface TestBrowser {
  browser: Browser;
  /** Closes every page; console errors, refused resources (CSP) and exceptions of all since the last time, but for those expected. */
  closePages(): Promise<string[]>;
  /**
   * Opens a page. `expected` are complaints that the test will cause: said beforehand and of this page alone, since Chromium may
   * tell of a refused request after the page has shown what follows from it.
   */
  open(address: string, expected?: RegExp): Promise<Page>;
  close(): Promise<void>;
}

/** Starts Chromium with a profile of its own that {@link TestBrowser.close} removes. */
export async function startBrowser(executablePath: string): Promise<TestBrowser> {
  const profile = await mkdtemp(join(tmpdir(), 'inspector-chromium-'));
  const browser = await launch({
    executablePath,
    userDataDir: profile,
    args: ['--no-sandbox', '--disable-gpu', '--force-color-profile=srgb', '--hide-scrollbars'],
    defaultViewport: { width: 1440, height: 900 },
  });
  const complaints: string[] = [];
  return {
    browser,
    async closePages() {
      // The first page is Chromium's own, which keeps it running.
      for (const page of (await browser.pages()).slice(1)) await page.close();
      return complaints.splice(0);
    },
    async open(address, expected) {
      const page = await browser.newPage();
      const complain = (text: string) => {
        if (expected?.test(text) !== true) complaints.push(text);
      };
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warn') complain(message.text());
      });
      page.on('pageerror', (error) => {
        complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
      });
      await page.goto(address, { waitUntil: 'load' });
      return page;
    },
    async close() {
      await browser.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}
