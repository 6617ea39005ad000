import type { Page } from 'puppeteer-core';

/**
 * Clicks on an element, wherever it is by then. A page is laid out anew when its fonts and widths are known: a click that goes
 * by the place at which the element stood a moment ago meets another one, or none.
 */
export async function press(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(selector);
  await page.$eval(selector, (el) => {
    (el as HTMLElement).focus();
    el.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));
  });
}
