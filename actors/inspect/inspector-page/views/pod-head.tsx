import { dateTimeText, spanText } from '../model/clock-text.ts';
import { leafOf, parentOf, toneOf } from '../model/state-names.ts';
import { copyLink } from '../session/copy-link.ts';
import * as s from '../session/session.ts';
import { explainSummary } from './explain-view.tsx';

/** Which pod, in which state at the shown moment, and why. */
export function PodHead() {
  const pod = s.pod.value;
  const state = s.stateNow.value;
  const why = s.following.value ? (pod?.why ?? '') : '';
  const told = s.explanation.value?.index === s.index.value ? explainSummary(s.explanation.value.value) : '';
  return (
    <header class="pod-head">
      <div class="pod-title">
        <h2 class="mono">
          <span class="quiet">
            {s.isNode.value ? 'node ' : s.isSingle.value ? 'machine ' : `${pod?.namespace ?? ''}/`}
          </span>
          {pod?.name ?? s.uid.value}
        </h2>
        {pod !== undefined && s.isNode.value && (
          <p class="facts mono quiet">
            {s.following.value ? '' : 'now '}
            {pod.phase}
          </p>
        )}
        {pod !== undefined && !s.isSingle.value && (
          <p class="facts mono quiet">
            {pod.uid} · from {pod.source} · {s.following.value ? '' : 'now '}
            {pod.phase === '' ? 'no phase' : pod.phase} · {pod.ready}/{pod.containers} ready
            {pod.restarts > 0 ? ` · ${String(pod.restarts)} restarts` : ''}
            {pod.gone ? ' · gone' : ''}
          </p>
        )}
      </div>
      <div class="pod-now">
        <span class={`badge tone-${toneOf(state)}`} data-state={state}>
          {parentOf(state) === '' ? '' : <span class="badge-parent">{parentOf(state)}.</span>}
          {leafOf(state)}
        </span>
        <button type="button" class="small" onClick={() => void copyLink()} title="Copy the link to this moment (c)">
          Copy link
        </button>
      </div>
      {(told !== '' || why !== '') && (
        <p class="why" title={told === '' ? why : told}>
          {told === '' ? why : told}
          {s.following.value && pod !== undefined && (
            <span class="quiet" title={dateTimeText(pod.since)}>
              {' '}
              · since {spanText(s.now.value - pod.since)}
            </span>
          )}
        </p>
      )}
    </header>
  );
}
