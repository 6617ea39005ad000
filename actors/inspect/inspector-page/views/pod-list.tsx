import { signal } from '@preact/signals';
import type { PodLine } from '../../inspector/inspector-api.ts';
import { countText, dateTimeText, spanText } from '../model/clock-text.ts';
import type { Sort } from '../model/pod-list.ts';
import { SORTS } from '../model/pod-list.ts';
import { leafOf, toneOf } from '../model/state-names.ts';
import * as s from '../session/session.ts';
import { openPod } from '../session/travel.ts';
import { openNode } from '../session/node-travel.ts';
import { Empty } from './empty.tsx';
import { memo } from './memo.ts';
import { VirtualRows } from './virtual-rows.tsx';

const ROW = 44;
/** Uid of the row that the arrow keys are at; it may differ from the open pod. */
const cursor = signal('');

/** All pods: filter, states, order, list. */
export function PodList() {
  const shown = s.shownPods.value;
  return (
    <nav class="pods" aria-label="Pods">
      <div class="pods-head">
        <div class="field">
          <input
            id="filter"
            type="search"
            placeholder="Filter: name, namespace, state, why"
            aria-label="Filter the pods"
            spellcheck={false}
            value={s.filterText.value}
            onInput={(event) => {
              s.filterText.value = event.currentTarget.value;
            }}
            onKeyDown={onFilterKey}
          />
          <kbd aria-hidden="true">/</kbd>
        </div>
        <StateChips />
        <div class="pods-sort">
          <span class="quiet" role="status">
            {shown.length === s.pods.value.size ? 'All' : `${countText(shown.length)} of`}{' '}
            {countText(s.pods.value.size)}
          </span>
          <span class="grow" />
          <label>
            <span class="quiet">sort</span>{' '}
            <select
              value={s.sort.value}
              onChange={(event) => {
                s.sort.value = event.currentTarget.value as Sort;
              }}
            >
              {SORTS.map((sort) => (
                <option key={sort} value={sort}>
                  {sort}
                </option>
              ))}
            </select>
          </label>
        </div>
      </div>
      <NodeRow />
      {shown.length === 0 ? <NoPods /> : <Rows />}
    </nav>
  );
}

function onFilterKey(event: KeyboardEvent): void {
  if (event.key === 'Escape') s.filterText.value = '';
  else if (event.key === 'ArrowDown' || event.key === 'Enter') {
    event.preventDefault();
    const first = s.shownPods.value[0];
    if (first === undefined) return;
    if (event.key === 'Enter') openPod(first.uid);
    cursor.value = first.uid;
    document.getElementById('pods')?.focus();
  }
}

function StateChips() {
  const chosen = s.filterStates.value;
  return (
    <div class="chips" role="group" aria-label="Only these states">
      {s.stateCounts.value.map(({ state, count }) => {
        const on = chosen.includes(state);
        return (
          <button
            key={state}
            type="button"
            class="chip"
            aria-pressed={on}
            title={state}
            onClick={() => {
              s.filterStates.value = on ? chosen.filter((c) => c !== state) : [...chosen, state];
            }}
          >
            <i class={`dot tone-${toneOf(state)}`} aria-hidden="true" />
            {leafOf(state)}
            <b>{countText(count)}</b>
          </button>
        );
      })}
    </div>
  );
}

function Rows() {
  const shown = s.shownPods.value;
  const at = (uid: string) => (uid === '' ? -1 : shown.findIndex((pod) => pod.uid === uid));
  const active = at(cursor.value);
  const now = s.now.value;
  const open = s.uid.value;
  const here = cursor.value;
  return (
    <VirtualRows
      id="pods"
      class="pods-rows"
      role="listbox"
      label="Pods"
      count={shown.length}
      rowHeight={ROW}
      active={active >= 0 ? active : at(s.uid.value)}
      rowId={(i) => `pod-${shown[i]?.uid ?? ''}`}
      row={(i) => <Row pod={shown[i]} now={now} open={shown[i]?.uid === open} at={shown[i]?.uid === here} />}
      onMove={(i) => {
        cursor.value = shown[i]?.uid ?? '';
      }}
      onEnter={(i) => {
        openPod(shown[i]?.uid ?? '');
      }}
    />
  );
}

interface RowProps {
  pod: PodLine | undefined;
  now: number;
  open: boolean;
  /** The arrow keys are here. */
  at: boolean;
}

const Row = memo(({ pod, now, open, at }: RowProps) => {
  if (pod === undefined) return null;
  return (
    <div
      id={`pod-${pod.uid}`}
      class="pod"
      role="option"
      aria-selected={open}
      data-at={at}
      data-gone={pod.gone}
      onClick={() => {
        cursor.value = pod.uid;
        openPod(pod.uid);
      }}
    >
      <i class={`dot tone-${toneOf(pod.state)}`} aria-hidden="true" />
      <span class="pod-name mono" title={`${pod.namespace}/${pod.name}`}>
        {pod.name}
      </span>
      <span class="pod-age mono quiet" title={`started ${dateTimeText(pod.startedAt)}`}>
        {spanText(now - pod.startedAt)}
      </span>
      <span class="pod-why" title={pod.why === '' ? pod.state : `${pod.state}: ${pod.why}`}>
        <b class={`text-${toneOf(pod.state)}`}>{leafOf(pod.state)}</b>
        <span class="quiet mono"> {spanText(now - pod.since)}</span>
        {pod.why === '' ? '' : ` · ${pod.why}`}
      </span>
      <span
        class="pod-ready mono quiet"
        title={`${String(pod.ready)} of ${String(pod.containers)} containers ready, ${String(pod.restarts)} restarts`}
      >
        {pod.restarts > 0 && <b class="restarts">↻{pod.restarts} </b>}
        {pod.ready}/{pod.containers}
      </span>
    </div>
  );
});

function NoPods() {
  if (!s.podsLoaded.value) {
    if (s.connection.value === 'refused') {
      return <Empty title="No access">Open the address that the agent printed: it holds the token.</Empty>;
    }
    if (s.connection.value === 'lost') return <Empty title="The agent does not answer">{s.trouble.value}</Empty>;
    return (
      <div class="pods-rows" aria-busy="true">
        {Array.from({ length: 12 }, (_, i) => (
          <div key={i} class="skeleton" />
        ))}
      </div>
    );
  }
  if (s.pods.value.size === 0) {
    return s.connection.value === 'files' ? (
      <Empty title="No pods">The journals name none.</Empty>
    ) : (
      <Empty title="No pods yet">As soon as the agent hears of a pod, it stands here.</Empty>
    );
  }
  return (
    <Empty title="No pod fits">
      <button
        type="button"
        onClick={() => {
          s.filterText.value = '';
          s.filterStates.value = [];
        }}
      >
        Clear the filter
      </button>
    </Empty>
  );
}

/** The node itself, above its pods; also one of whose own machine the journals have no log. */
function NodeRow() {
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
