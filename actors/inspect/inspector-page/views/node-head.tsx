import type { Overview } from '../../inspector/inspector-api.ts';
import { dateTimeText, spanText } from '../model/clock-text.ts';
import { leafOf, parentOf, toneOf } from '../model/state-names.ts';
import { copyLink } from '../session/copy-link.ts';
import { overviewAt } from '../session/node-overview.ts';
import * as s from '../session/session.ts';

/** Which node, in which state at the moment, and what is wrong with it. */
export function NodeHead({ told: { node, at } }: { told: Overview }) {
  const about = s.about.value;
  const line = s.node.value;
  const newest = overviewAt.value === null;
  const facts = [
    line === null ? '' : `${newest ? '' : 'now '}${line.phase}`,
    about === null ? '' : `actorlet ${about.version}`,
    line === null ? '' : `began ${dateTimeText(line.startedAt).slice(0, 19)}`,
  ];
  return (
    <header class="node-head">
      <div class="pod-title">
        <h2 class="mono">
          <span class="quiet">node </span>
          {line?.name ?? about?.nodeName}
        </h2>
        <p class="facts mono quiet">{facts.filter((fact) => fact !== '').join(' · ')}</p>
      </div>
      <div class="pod-now">
        {node !== null && (
          <span class={`badge tone-${toneOf(node.state)}`} data-state={node.state}>
            {parentOf(node.state) === '' ? '' : <span class="badge-parent">{parentOf(node.state)}.</span>}
            {leafOf(node.state)}
          </span>
        )}
        <button type="button" class="small" onClick={() => void copyLink()} title="Copy the link to this moment (c)">
          Copy link
        </button>
      </div>
      {node !== null && node.why !== '' && (
        <p class="why" title={node.why}>
          {node.why}
          <span class="quiet" title={dateTimeText(node.since)}>
            {' '}
            · since {spanText((newest ? s.now.value : at) - node.since)}
          </span>
        </p>
      )}
    </header>
  );
}
