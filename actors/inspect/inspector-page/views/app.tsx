import { useEffect, useRef } from 'preact/hooks';
import * as s from '../session/session.ts';
import { KEYS } from '../session/keys.ts';
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

/** The keys, as a dialog. */
function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  const open = s.helpOpen.value;
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  const close = () => {
    s.helpOpen.value = false;
  };
  return (
    <dialog
      ref={dialog}
      class="help"
      aria-label="Keys"
      onClose={close}
      onClick={(event) => {
        if (event.target === dialog.current) close();
      }}
    >
      <h2>Keys</h2>
      <dl>
        {KEYS.map(({ keys, does }) => (
          <div key={does}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">Moments have addresses: the one in the address bar opens this pod, step and view again.</p>
      <button type="button" onClick={close}>
        Close
      </button>
    </dialog>
  );
}
