/** Views beside the statechart, in the order of their tabs. */
export const VIEWS = ['timeline', 'sequence', 'spec', 'status', 'context', 'message', 'explain'] as const;
export type View = (typeof VIEWS)[number];

/** What the address names: the node or a pod, a moment of it, and how one looks at it. */
export interface Moment {
  /** '' when no pod is chosen: the node with all its pods is shown. */
  uid: string;
  /** The moment of that, ms since the epoch; absent: the newest, and it moves on. */
  at?: number;
  /** Step index; null: the newest, and it moves on. */
  step: number | null;
  view: View;
  /** Whose chart is drawn: `pod`, `container/NAME`, `probe/CONTAINER/KIND`, `volume/NAME`. */
  chart: string;
}

const NOWHERE: Moment = { uid: '', step: null, view: 'timeline', chart: 'pod' };

/** Reads a location hash such as `#pod=UID&step=12&view=sequence` or `#node&at=1772355781000`; what is missing or senseless gets its default. */
export function parseMoment(hash: string): Moment {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const step = fields.get('step') ?? '';
  const view = fields.get('view') ?? '';
  const uid = fields.get('pod') ?? '';
  const at = fields.get('at') ?? '';
  return {
    uid,
    ...(uid === '' && /^\d{1,15}$/.test(at) && { at: Number(at) }),
    step: /^\d{1,9}$/.test(step) ? Number(step) : null,
    view: VIEWS.find((v) => v === view) ?? NOWHERE.view,
    chart: fields.get('chart') ?? NOWHERE.chart,
  };
}

/** The hash that {@link parseMoment} reads; `#node` when no pod is chosen. */
export function formatMoment(moment: Moment): string {
  if (moment.uid === '') return moment.at === undefined ? '#node' : `#node&at=${String(moment.at)}`;
  const fields = new URLSearchParams({ pod: moment.uid });
  if (moment.step !== null) fields.set('step', String(moment.step));
  if (moment.view !== NOWHERE.view) fields.set('view', moment.view);
  if (moment.chart !== NOWHERE.chart) fields.set('chart', moment.chart);
  return `#${fields.toString()}`;
}
