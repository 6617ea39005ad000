import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { RowWindow } from '../model/row-window.ts';
import { rowWindow, scrollFor } from '../model/row-window.ts';

interface Props {
  id?: string;
  class?: string;
  label: string;
  role: 'listbox' | 'tree';
  count: number;
  rowHeight: number;
  /** Row that is to be in view and that aria-activedescendant names; -1: none. */
  active: number;
  /** Id of the element of a row. */
  rowId: (index: number) => string;
  row: (index: number) => ComponentChildren;
  onMove: (index: number) => void;
  onEnter?: (index: number) => void;
  /** Told which rows are drawn, so that they can be loaded. */
  onWindow?: (window: RowWindow) => void;
}

/** A list of equal rows of which only those in view exist; one tab stop, moved through with the arrow keys. */
export function VirtualRows(props: Props) {
  const { count, rowHeight, active } = props;
  const box = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState<RowWindow>({ start: 0, end: Math.min(count, 40) });

  const look = () => {
    const el = box.current;
    if (el === null) return;
    const next = rowWindow(el.scrollTop, el.clientHeight, rowHeight, count);
    if (next.start === seen.start && next.end === seen.end) return;
    setSeen(next);
    props.onWindow?.(next);
  };
  useLayoutEffect(look, [count, rowHeight]);
  useEffect(() => {
    const el = box.current;
    if (el === null) return;
    const observer = new ResizeObserver(() => {
      el.dispatchEvent(new Event('scroll'));
    });
    observer.observe(el);
    return () => {
      observer.disconnect();
    };
  }, []);
  useLayoutEffect(() => {
    const el = box.current;
    if (el === null || active < 0) return;
    const to = scrollFor(el.scrollTop, el.clientHeight, active * rowHeight, (active + 1) * rowHeight);
    if (to !== el.scrollTop) {
      el.scrollTop = to;
      look();
    }
  }, [active, rowHeight]);

  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor((box.current?.clientHeight ?? 0) / rowHeight) - 1);
    const moves: Record<string, number> = {
      ArrowDown: active + 1,
      ArrowUp: active - 1,
      PageDown: active + page,
      PageUp: active - page,
      Home: 0,
      End: count - 1,
    };
    const to = moves[event.key];
    if (to !== undefined && count > 0) {
      event.preventDefault();
      props.onMove(Math.max(0, Math.min(count - 1, to)));
    } else if (event.key === 'Enter' && props.onEnter !== undefined && active >= 0) {
      event.preventDefault();
      props.onEnter(active);
    }
  };

  const rows: ComponentChildren[] = [];
  for (let i = seen.start; i < Math.min(seen.end, count); i++) {
    rows.push(
      <div
        key={i}
        class="vrow"
        style={{ transform: `translateY(${String(i * rowHeight)}px)`, height: `${String(rowHeight)}px` }}
      >
        {props.row(i)}
      </div>,
    );
  }
  const inView = active >= seen.start && active < seen.end;
  return (
    <div
      ref={box}
      id={props.id}
      class={`vlist ${props.class ?? ''}`}
      role={props.role}
      aria-label={props.label}
      aria-activedescendant={inView ? props.rowId(active) : undefined}
      tabIndex={0}
      onScroll={look}
      onKeyDown={onKeyDown}
    >
      <div class="vspace" role="presentation" style={{ height: `${String(count * rowHeight)}px` }}>
        {rows}
      </div>
    </div>
  );
}
