import { dateTimeText, spanText } from '../model/clock-text.ts';
import { toneOf } from '../model/state-names.ts';
import { openNode } from '../session/node-travel.ts';
import * as s from '../session/session.ts';

/** The node itself, above its pods; also one of whose own machine the journals have no log. */
export function NodeRow() {
  const about = s.about.value;
  const node = s.node.value;
  if (about === null) return null;
  return (
    <button
      type="button"
      id="node"
      class="node-row"
      aria-pressed={s.uid.value === '' || s.isNode.value}
      title={`The node with all its pods (n)${node === null ? '' : `\n${node.state}${node.why === '' ? '' : `: ${node.why}`}`}`}
      onClick={openNode}
    >
      <i class={`dot tone-${node === null ? 'end' : toneOf(node.state)}`} aria-hidden="true" />
      <span class="pod-name mono">
        <span class="quiet">node</span> {node?.name ?? about.nodeName}
      </span>
      {node === null ? (
        <span class="pod-why">all pods over time</span>
      ) : (
        <>
          <span class="pod-age mono quiet" title={`the agent began ${dateTimeText(node.startedAt)}`}>
            {spanText(s.now.value - node.startedAt)}
          </span>
          <span class="pod-why">
            <b class={`text-${toneOf(node.state)}`}>{node.state}</b>
            <span class="quiet mono"> {spanText(s.now.value - node.since)}</span>
            {node.why === '' ? '' : ` · ${node.why}`}
          </span>
          <span class="pod-ready mono quiet">{node.phase}</span>
        </>
      )}
    </button>
  );
}
