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
  /** Console errors, refused resources (CSP) and exceptions of all pages. */
  complaints: string[];
  open(address: string): Promise<Page>;
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
    complaints,
    async open(address) {
      const page = await browser.newPage();
      page.on('console', (message) => {
        if (message.type() === 'error' || message.type() === 'warn') complaints.push(message.text());
      });
      page.on('pageerror', (error) =>
        complaints.push(error instanceof Error ? (error.stack ?? error.message) : String(error)),
      );
      await page.goto(address, { waitUntil: 'load' });
      return page;
    },
    async close() {
      await browser.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}
