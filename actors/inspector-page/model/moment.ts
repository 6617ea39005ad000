/** Views beside the statechart, in the order of their tabs. */
export const VIEWS = ['timeline', 'sequence', 'spec', 'status', 'context', 'message', 'explain'] as const;
export type View = (typeof VIEWS)[number];

/** What the address names: a pod, a moment of it, and how one looks at it. */
export interface Moment {
  /** '' when no pod is chosen. */
  uid: string;
  /** Step index; null: the newest, and it moves on. */
  step: number | null;
  view: View;
  /** Whose chart is drawn: `pod`, `container/NAME`, `probe/CONTAINER/KIND`, `volume/NAME`. */
  chart: string;
}

const NOWHERE: Moment = { uid: '', step: null, view: 'timeline', chart: 'pod' };

/** Reads a location hash such as `#pod=UID&step=12&view=sequence`; what is missing or senseless gets its default. */
export function parseMoment(hash: string): Moment {
  const fields = new URLSearchParams(hash.replace(/^#/, ''));
  const step = fields.get('step') ?? '';
  const view = fields.get('view') ?? '';
  return {
    uid: fields.get('pod') ?? '',
    step: /^\d{1,9}$/.test(step) ? Number(step) : null,
    view: VIEWS.find((v) => v === view) ?? NOWHERE.view,
    chart: fields.get('chart') ?? NOWHERE.chart,
  };
}

/** The hash that {@link parseMoment} reads; '' when no pod is chosen. */
export function formatMoment(moment: Moment): string {
  if (moment.uid === '') return '';
  const fields = new URLSearchParams({ pod: moment.uid });
  if (moment.step !== null) fields.set('step', String(moment.step));
  if (moment.view !== NOWHERE.view) fields.set('view', moment.view);
  if (moment.chart !== NOWHERE.chart) fields.set('chart', moment.chart);
  return `#${fields.toString()}`;
}
