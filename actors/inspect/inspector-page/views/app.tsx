import * as s from '../session/session.ts';
import { Help } from './help.tsx';
import { PodList } from './pod-list.tsx';
import { PodPage } from './pod-page.tsx';
import { TopBar } from './top-bar.tsx';

/** The whole page. */
export function App() {
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to what is shown
      </button>
      <TopBar />
      <div class="columns">
        <PodList />
        <main id="main" tabIndex={-1}>
          <PodPage />
        </main>
      </div>
      <Help />
      <div class="notice" role="status" aria-live="polite" data-shown={s.notice.value !== ''}>
        {s.notice.value}
      </div>
    </>
  );
}
