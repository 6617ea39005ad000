import { computed, effect, signal } from '@preact/signals';
import type { About, PodLine, StepDetail, StepLine } from '../../inspector/inspector-api.ts';
import type { Moment } from '../model/moment.ts';
import { parseMoment } from '../model/moment.ts';
import type { Way } from '../model/journey.ts';
import { lastWay, waysTaken } from '../model/journey.ts';
import type { Sort } from '../model/pod-list.ts';
import { countStates, listPods } from '../model/pod-list.ts';
import { StepStore } from '../model/step-store.ts';

/** All that the page shows hangs on these signals; the files beside this one change them. */

export type Connection = 'loading' | 'live' | 'files' | 'lost' | 'refused';

export const about = signal<About | null>(null);
export const pods = signal<ReadonlyMap<string, PodLine>>(new Map());
/** The node itself; null when the journals have no log of it. */
export const node = signal<PodLine | null>(null);
/** The other machines that there is one of, by the name that they go by among pods: `@admission`. */
export const machines = signal<ReadonlyMap<string, PodLine>>(new Map());
/** The list has been loaded at least once. */
export const podsLoaded = signal(false);
export const connection = signal<Connection>('loading');
/** When the next try to connect is due, ms since the epoch; 0: one is under way or none is needed. */
export const retryAt = signal(0);
/** What the last failed request said; '' when all is well. */
export const trouble = signal('');
/** The clock of ages: ticks while live, stands at the journals' end for files. */
export const now = signal(Date.now());

export const filterText = signal('');
export const filterStates = signal<readonly string[]>([]);
export const sort = signal<Sort>('attention');
export const shownPods = computed(() =>
  listPods(pods.value.values(), { text: filterText.value, states: filterStates.value }, sort.value),
);
export const stateCounts = computed(() => countStates(pods.value.values()));

export const moment = signal<Moment>(parseMoment(location.hash));
export const uid = computed(() => moment.value.uid);
export const isNode = computed(() => uid.value !== '' && uid.value === node.value?.uid);
export const view = computed(() => moment.value.view);
export const following = computed(() => moment.value.step === null);
/** What is chosen is no pod: the node, or another machine that there is one of. */
export const isSingle = computed(() => isNode.value || machines.value.has(uid.value));
/** What is chosen: a pod, the node, or another machine. */
export const pod = computed(
  () =>
    pods.value.get(uid.value) ??
    machines.value.get(uid.value) ??
    (isNode.value ? (node.value ?? undefined) : undefined),
);

/** Steps of the chosen pod; `stepsVersion` rises with each change of it. */
export const steps = { store: new StepStore() };
export const stepsVersion = signal(0);
export const total = signal(0);
/** Oldest step that is still in the journals. */
export const first = signal(0);
/** Steps of the chosen pod could not be loaded. */
export const stepsError = signal('');

/** Index of the step that is shown; -1 while the pod has none. */
export const index = computed(() => {
  const last = total.value - 1;
  const step = moment.value.step;
  return step === null ? last : Math.min(Math.max(step, first.value), last);
});

/** The line of the step that is shown, when it is loaded. */
export const line = computed<StepLine | undefined>(() => {
  void stepsVersion.value;
  return steps.store.at(index.value);
});

/** Everything about the step that is shown and the one before it. May lag behind {@link index} while it loads. */
export interface Shown {
  uid: string;
  index: number;
  detail: StepDetail;
  previous: StepDetail | null;
}
export const shown = signal<Shown | null>(null);
export const shownError = signal('');
/** What `explain` says at the shown moment; null while unknown or not offered. */
export const explanation = signal<{ index: number; value: unknown } | null>(null);

export const playing = signal(false);
export const speed = signal(1);
export const helpOpen = signal(false);
/** The panel beside the chart takes the whole width. */
export const wide = signal(false);
/** Told to screen readers and shown for a moment: `Link copied`. */
export const notice = signal('');

/** Ways that the pod has taken until now, as far as its steps are loaded. */
export const ways = computed<ReadonlyMap<string, Way>>(() => {
  void stepsVersion.value;
  return waysTaken(steps.store.loaded(), index.value);
});
export const latestWay = computed(() => lastWay(ways.value));

/** The pod's state at the shown moment. */
export const stateNow = computed(() => {
  if (following.value && line.value === undefined) return pod.value?.state ?? '';
  const known = line.value?.after;
  if (known !== undefined) return known;
  return shown.value?.index === index.value ? shown.value.detail.machines.pod : '';
});

effect(() => {
  const name = pod.value?.name;
  document.title = name === undefined ? 'actorlet inspector' : `${name} · actorlet inspector`;
});
