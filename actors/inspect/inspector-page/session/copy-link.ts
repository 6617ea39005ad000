import * as s from './session.ts';
import { linkHere } from './travel.ts';

let fading = 0;

/** Shows a word for two seconds and tells it to screen readers. */
function say(text: string): void {
  s.notice.value = text;
  clearTimeout(fading);
  fading = window.setTimeout(() => {
    s.notice.value = '';
  }, 2000);
}

/** Copies a text; browsers may forbid it, which is said. */
export async function copy(text: string, done: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(done);
  } catch {
    say('The browser does not allow copying');
  }
}

/** Copies the address of the shown moment, which also becomes the page's own. */
export async function copyLink(): Promise<void> {
  const link = linkHere();
  history.replaceState(null, '', link);
  await copy(link, 'Link to this moment copied');
}
