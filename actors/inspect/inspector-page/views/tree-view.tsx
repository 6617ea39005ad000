import { useComputed, useSignal } from '@preact/signals';
import type { Changes } from '../model/diff.ts';
import { diffTrees } from '../model/diff.ts';
import { sizeText } from '../model/clock-text.ts';
import type { TreeRow } from '../model/tree-rows.ts';
import { branchText, leafText, MOST_HITS, treeRows } from '../model/tree-rows.ts';
import type { StepDetail } from '../../inspector/inspector-api.ts';
import { copy } from '../session/copy-link.ts';
import * as s from '../session/session.ts';
import { Empty } from './empty.tsx';
import { VirtualRows } from './virtual-rows.tsx';

type Part = 'spec' | 'status' | 'context' | 'message';
const ROW = 22;
/** Characters of a value in its row. */
const SHORT = 160;
/** Characters of a long value at once when it is opened. */
const CHUNK = 20_000;
const MARKS = { added: '+', removed: '−', changed: '~', inside: '·' } as const;

function partOf(detail: StepDetail, part: Part): unknown {
  return part === 'message' ? { message: detail.message, effects: detail.effects } : detail[part];
}

const NO_CHANGES: Changes = new Map();

/** Spec, status, context or message as a tree, with what the step changed in it. */
export function TreeView({ of }: { of: Part }) {
  const toggled = useSignal<ReadonlyMap<string, boolean>>(new Map());
  const search = useSignal('');
  const onlyChanged = useSignal(false);
  const active = useSignal('');
  const opened = useSignal<{ label: string; text: string; length: number } | null>(null);

  const input = useComputed(() => {
    const shown = s.shown.value;
    if (shown === null) return null;
    const after = partOf(shown.detail, of);
    const before = shown.previous === null ? undefined : partOf(shown.previous, of);
    // A message has nothing to do with the message before it.
    const compared = of !== 'message' && shown.previous !== null;
    return { after, before, changes: compared ? diffTrees(before, after) : NO_CHANGES };
  });
  const open = useComputed(() =>
    of === 'message' ? new Map([['message', true], ['effects', true], ...toggled.value]) : toggled.value,
  );
  const rows = useComputed(() =>
    input.value === null
      ? []
      : treeRows({ ...input.value, toggled: open.value, search: search.value, onlyChanged: onlyChanged.value }),
  );

  if (input.value === null) {
    return s.shownError.value === '' ? (
      <div class="tree" aria-busy="true">
        {Array.from({ length: 8 }, (_, i) => (
          <div key={i} class="skeleton thin" />
        ))}
      </div>
    ) : (
      <Empty title="This step could not be read">{s.shownError.value}</Empty>
    );
  }
  const all = rows.value;
  const at = all.findIndex((row) => row.id === active.value);
  const toggle = (row: TreeRow | undefined) => {
    if (row === undefined) return;
    active.value = row.id;
    if (row.branch) toggled.value = new Map(toggled.value).set(row.id, !row.open);
    else if (typeof row.value === 'string' && row.value.length > SHORT) {
      opened.value = { label: row.label, text: row.value, length: CHUNK };
    }
  };
  const changed = [...input.value.changes.values()].filter((change) => change !== 'inside').length;
  const hits = all.filter((row) => row.hit).length;
  return (
    <div class="tree">
      <div class="tree-head">
        <input
          type="search"
          placeholder={`Search in ${of}`}
          aria-label={`Search in ${of}`}
          spellcheck={false}
          value={search.value}
          onInput={(event) => {
            search.value = event.currentTarget.value;
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') search.value = '';
          }}
        />
        {search.value !== '' && <span class="quiet">{hits >= MOST_HITS ? `${String(MOST_HITS)}+` : hits} found</span>}
        <span class="grow" />
        {of !== 'message' && (
          <button
            type="button"
            class="chip"
            aria-pressed={onlyChanged.value}
            onClick={() => {
              onlyChanged.value = !onlyChanged.value;
            }}
          >
            only changed <b>{changed}</b>
          </button>
        )}
        <button
          type="button"
          class="small"
          onClick={() => void copy(JSON.stringify(input.value?.after, null, 2) ?? '', 'Copied as JSON')}
        >
          Copy
        </button>
      </div>
      {opened.value !== null && (
        <LongText
          value={opened.value}
          onMore={() => {
            if (opened.value !== null) opened.value = { ...opened.value, length: opened.value.length + CHUNK };
          }}
          onClose={() => {
            opened.value = null;
          }}
        />
      )}
      {all.length === 0 ? (
        <Empty
          title={
            search.value === '' ? (onlyChanged.value ? 'Nothing changed in this step' : 'Nothing here') : 'Not found'
          }
        />
      ) : (
        <VirtualRows
          class="tree-rows"
          role="tree"
          label={of}
          count={all.length}
          rowHeight={ROW}
          active={at}
          rowId={(i) => `node-${String(i)}`}
          row={(i) => <Row row={all[i]} index={i} active={i === at} onToggle={toggle} />}
          onMove={(i) => {
            active.value = all[i]?.id ?? '';
          }}
          onEnter={(i) => {
            toggle(all[i]);
          }}
        />
      )}
    </div>
  );
}

interface RowProps {
  row: TreeRow | undefined;
  index: number;
  active: boolean;
  onToggle: (row: TreeRow | undefined) => void;
}

function Row({ row, index, active, onToggle }: RowProps) {
  if (row === undefined) return null;
  return (
    <div
      id={`node-${String(index)}`}
      class="node mono"
      role="treeitem"
      aria-level={row.depth + 1}
      aria-expanded={row.branch ? row.open : undefined}
      aria-selected={active}
      data-change={row.change ?? ''}
      data-hit={row.hit}
      style={{ paddingLeft: `${String(4 + row.depth * 16)}px` }}
      onClick={() => {
        onToggle(row);
      }}
    >
      <span class="node-mark" aria-label={row.change ?? ''}>
        {row.change === undefined ? '' : MARKS[row.change]}
      </span>
      <span class="node-twist" aria-hidden="true">
        {row.branch ? (row.open ? '▾' : '▸') : ''}
      </span>
      <span class="node-key">{row.label.replace(/^-(?=\d)/, '')}</span>
      {row.hint !== '' && !row.open && <span class="quiet"> {row.hint}</span>}
      <Value row={row} />
    </div>
  );
}

function Value({ row }: { row: TreeRow }) {
  if (row.branch) return row.open ? null : <span class="quiet"> {branchText(row.value)}</span>;
  const text = typeof row.value === 'object' && row.value !== null ? branchText(row.value) : leafText(row.value);
  const was = row.change === 'changed' ? shortText(row.was) : '';
  return (
    <>
      {was !== '' && <del>{was}</del>}
      <span class={`value-${row.value === null ? 'null' : typeof row.value}`}>
        {text.length > SHORT ? `${text.slice(0, SHORT)}…` : text}
      </span>
      {text.length > SHORT && <span class="long"> {sizeText(text.length)}, open</span>}
    </>
  );
}

function shortText(value: unknown): string {
  const text = typeof value === 'object' && value !== null ? branchText(value) : leafText(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

interface LongProps {
  value: { label: string; text: string; length: number };
  onMore: () => void;
  onClose: () => void;
}

/** A value that is too long for its row; shown bit by bit, since a line of a megabyte stops any browser. */
function LongText({ value: { label, text, length }, onMore, onClose }: LongProps) {
  return (
    <div class="long-text" role="region" aria-label={label}>
      <div class="tree-head">
        <b class="mono">{label}</b> <span class="quiet">{sizeText(text.length)}</span>
        <span class="grow" />
        <button type="button" class="small" onClick={() => void copy(text, 'Value copied')}>
          Copy
        </button>
        <button type="button" class="small" onClick={onClose}>
          Close
        </button>
      </div>
      <pre tabIndex={0}>{text.slice(0, length)}</pre>
      {length < text.length && (
        <button type="button" class="small" onClick={onMore}>
          {sizeText(text.length - length)} more
        </button>
      )}
    </div>
  );
}
