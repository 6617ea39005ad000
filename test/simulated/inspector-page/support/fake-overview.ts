import type { Overview, SlowCall } from '../../../../actors/inspect/inspector/inspector-api.ts';
import { isWaiting } from '../../../../machines/charts/state-tone.ts';
import type { GeneratedPod } from './generated-pods.ts';

const WIDTH = 1_000;
const SPANS = 90;
const STATES = { running: 'syncing.running', failing: 'syncing.crashLoopBackOff', waiting: 'syncing.pullingImage' };

/** What the fake inspector tells of the node: pods that start one by one over a minute and a half, of which two fail. */
export function fakeOverview(
  pods: readonly GeneratedPod[],
  node: GeneratedPod | null,
  end: number,
  asked: number | null,
  machines: readonly GeneratedPod[] = [],
  pressure: Overview['pressure'] = null,
  resources: Overview['resources'] = null,
): Overview {
  const start = end - SPANS * WIDTH;
  const at = Math.min(asked ?? end, end);
  const span = (i: number, before: number, after: number) => (i < SPANS / 2 ? before : after);
  const counts = (of: (i: number) => number) => Array.from({ length: SPANS }, (_, i) => of(i));
  const nodeStep = node === null ? -1 : span(Math.floor((at - start) / WIDTH), 0, node.line.steps - 1);
  const waits = pods
    .filter(({ line }) => isWaiting(line.state) && !line.gone)
    .sort((a, b) => a.line.since - b.line.since || (a.line.uid < b.line.uid ? -1 : 1));
  return {
    ...{ at, from: start, to: end },
    node:
      node === null
        ? null
        : {
            state: nodeStep === 0 ? node.step(0).after : node.line.state,
            before: node.step(nodeStep).before,
            since: start,
            why: nodeStep === 0 ? '' : node.line.why,
          },
    machines: machines.map(({ line, step }) => {
      const last = asked === null ? line.steps - 1 : 0;
      const { uid, name, since } = line;
      const steps = [last, last - 1, last - 2].filter((i) => i >= 0).map(step);
      const { before, after: state } = step(last);
      return { uid, name, state, before, since, why: asked === null ? line.why : '', last: steps };
    }),
    history: {
      ...{ start, width: WIDTH, length: SPANS },
      states: [
        { state: STATES.failing, counts: counts((i) => span(i, 0, 2)) },
        { state: STATES.waiting, counts: counts((i) => (i % 10 < 3 ? 4 : 0)) },
        { state: STATES.running, counts: counts((i) => i * 10) },
      ],
    },
    waiting: {
      total: waits.length,
      pods: waits.slice(0, 12).map(({ line: { uid, namespace, name, state, since, steps, why } }) => ({
        ...{ uid, namespace, name, state, since, step: steps - 1 },
        why: asked === null ? why : '',
      })),
    },
    pressure,
    resources,
    calls: [
      call(pods, 'story', 'image.Pull', 4, 'failed', 61_840, at),
      call(pods, 'moving', 'cri.RunPodSandbox', 1, 'underWay', 14_000, at),
      call(pods, 'story', 'cri.CreateContainer', 7, 'done', 61, at),
    ].flatMap((made) => made ?? []),
  };
}

function call(
  pods: readonly GeneratedPod[],
  uid: string,
  type: string,
  step: number,
  outcome: SlowCall['outcome'],
  ms: number,
  at: number,
): SlowCall | null {
  const line = pods.find((pod) => pod.line.uid === uid)?.line;
  if (line === undefined) return null;
  const { namespace, name } = line;
  const to = type.startsWith('image.') ? 'images' : 'cri';
  return { uid, namespace, name, type, to, subject: 'web', step, at: at - ms, ms, outcome };
}
