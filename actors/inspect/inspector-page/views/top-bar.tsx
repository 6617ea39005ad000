import { countText, spanText } from '../model/clock-text.ts';
import { connect } from '../session/live.ts';
import * as s from '../session/session.ts';
import { toggleTheme } from '../session/theme.ts';

/** Which node this is, whether the page hears from it, theme and help. */
export function TopBar() {
  const about = s.about.value;
  return (
    <header class="top">
      <h1 class="brand">
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <rect x="1.5" y="1.5" width="13" height="13" rx="4" class="brand-frame" />
          <circle cx="8" cy="8" r="2.5" class="brand-dot" />
        </svg>
        actorlet <span class="quiet">inspector</span>
      </h1>
      {about !== null && (
        <span class="agent mono" title={`version ${about.version}`}>
          {about.nodeName}
          <span class="quiet"> {about.version}</span>
        </span>
      )}
      {/* The inspector of many nodes has each below a path of its own. */}
      {/\/nodes\/[^/]+\/$/.test(location.pathname) && (
        <a class="quiet" href="../../">
          all nodes
        </a>
      )}
      <span class="quiet top-count">{s.podsLoaded.value ? `${countText(s.pods.value.size)} pods` : ''}</span>
      {about !== null && about.damages.length > 0 && (
        <span
          class="lamp text-fail"
          title={about.damages.map((d) => `${d.file}:${String(d.line)}: ${d.problem}`).join('\n')}
        >
          <i class="dot tone-fail" aria-hidden="true" />
          {about.damages.length} damaged {about.damages.length === 1 ? 'file' : 'files'}
        </span>
      )}
      <span class="grow" />
      <Link />
      <button type="button" class="icon" onClick={toggleTheme} aria-label="Dark or light" title="Dark or light (t)">
        <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
          <circle cx="8" cy="8" r="5.5" class="line-shape" />
          <path d="M8 2.5a5.5 5.5 0 0 1 0 11z" class="fill-shape" />
        </svg>
      </button>
      <button
        type="button"
        class="icon mono"
        onClick={() => {
          s.helpOpen.value = true;
        }}
        aria-label="Keys"
        title="Keys (?)"
      >
        ?
      </button>
    </header>
  );
}

function Link() {
  const state = s.connection.value;
  if (state === 'live') return <Lamp tone="ok" text="live" title="The page hears of each change" />;
  if (state === 'files') return <Lamp tone="end" text="recorded" title="Read from journal files; nothing more comes" />;
  if (state === 'refused') return <Lamp tone="fail" text="no access" title={s.trouble.value} />;
  if (state === 'loading') return <Lamp tone="wait" text="connecting" title="" />;
  const wait = s.retryAt.value - s.now.value;
  return (
    <>
      <Lamp
        tone="fail"
        text={wait > 0 ? `disconnected · next try in ${spanText(wait)}` : 'connecting again'}
        title={s.trouble.value}
      />
      <button type="button" class="small" onClick={() => void connect()}>
        Try now
      </button>
    </>
  );
}

function Lamp({ tone, text, title }: { tone: string; text: string; title: string }) {
  return (
    <span class="lamp" role="status" title={title}>
      <i class={`dot tone-${tone}`} aria-hidden="true" />
      {text}
    </span>
  );
}
