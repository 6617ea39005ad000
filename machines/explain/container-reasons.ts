import { graceEnd } from '../values/grace-end.ts';
import type { Container } from '../protocol/api-types.ts';
import type { KillReason } from '../container/container-context.ts';
import { hasSucceeded } from '../pod/container-plan.ts';
import { newestOf } from '../pod/observation.ts';
import { containerPullWords, pullOfContainer } from '../pod/pull-turns.ts';
import { shouldRestart, specContainer } from '../pod/spec.ts';
import { awaitedStart } from '../pod/start-turn.ts';
import type { Cause, CauseKind } from './explanation.ts';
import { containerState, endText, failedText, failureOf, machineSince, waitingText } from './view.ts';
import type { Reason, View } from './view.ts';
import { moment, span } from '../values/spoken-time.ts';

type Explainer = (view: View, name: string) => Reason;

/** Why a container machine is in its state: one entry for each leaf of its chart. */
export const CONTAINER_REASONS: Readonly<Record<string, Explainer>> = {
  waiting: (view, name) => {
    const said = waitingText(view, name);
    return one(
      view,
      name,
      'container',
      said === '' ? `${name} is not asked to start yet` : `${name} is not started: ${said}`,
    );
  },
  backingOff: (view, name) => {
    const { context } = placeOf(view, name);
    const delay = context.backOff === null ? '' : ` for ${span(context.backOff.delayMs)}`;
    const causes: Cause[] = [
      {
        at: since(view, name),
        text: `${name} keeps ending (CrashLoopBackOff): its next start is held back${delay}`,
        kind: 'backOff',
      },
    ];
    const end = endText(view, name);
    if (end !== null) causes.push({ ...end, kind: 'container' });
    return { causes, ...nextAt(context.deadline, `${name} starts again, triggered by timer`) };
  },
  retrying: (view, name) => {
    const { context } = placeOf(view, name);
    const reason = context.waiting?.reason ?? '';
    const [what, effect, kind] = RETRIES[reason] ?? ['its start', 'cri.StartContainer', 'container'];
    const failure = failureOf(view, `container/${name}/${effect}`);
    const causes: Cause[] = [
      {
        at: failure?.lastAt ?? since(view, name),
        text:
          failure === undefined
            ? `${name}: ${what}${effect === 'none' ? '' : ' failed:'} ${waitingText(view, name)}`
            : failedText(view, `${name}: ${what}`, failure),
        kind,
      },
    ];
    if (failure !== undefined && reason !== '')
      causes.push({ at: since(view, name), text: `its status says ${reason}`, kind });
    return { causes, ...nextAt(context.deadline, 'next try, triggered by timer') };
  },
  inDoubt: (view, name) => {
    const failure = failureOf(view, `container/${name}/cri.StartContainer`);
    const text =
      failure === undefined
        ? `${name}: StartContainer failed: ${waitingText(view, name)}`
        : failedText(view, `${name}: StartContainer`, failure);
    const look = failureOf(view, `container/${name}/cri.ContainerStatus`);
    const causes: Cause[] = [
      {
        at: since(view, name),
        text: `${name}: whether it runs is not known: no look at it has succeeded since its start failed; no other one is made before that`,
        kind: 'runtime',
      },
      { at: failure?.lastAt ?? since(view, name), text, kind: 'runtime' },
    ];
    if (look !== undefined)
      causes.push({ at: look.lastAt, text: failedText(view, `${name}: ContainerStatus`, look), kind: 'runtime' });
    return { causes, ...nextAt(placeOf(view, name).context.deadline, 'next look, triggered by timer') };
  },
  'starting.checkingImage': (view, name) =>
    tried(
      view,
      name,
      'image',
      `${name}: the runtime is asked whether image ${imageOf(view, name)} is there`,
      'image.Status',
      'asking for the image',
    ),
  'starting.pullingImage': (view, name) => {
    const reason = tried(view, name, 'image', containerPullWords(view.context, name), 'image.Pull', 'PullImage');
    const told = pullOfContainer(view.context, name);
    const [first, ...more] = reason.causes;
    if (first === undefined || told === undefined) return reason;
    return { causes: [{ ...first, at: told.begunAt || told.since }, ...more] };
  },
  'starting.imageBackOff': (view, name) => {
    const { context } = placeOf(view, name);
    const failure = failureOf(view, `container/${name}/image.Pull`);
    const image = imageOf(view, name);
    const text =
      failure === undefined
        ? `${name}: PullImage of ${image} failed (${view.mask(context.imageBackOff?.error ?? '')})`
        : failedText(view, `${name}: PullImage of ${image}`, failure);
    const causes: Cause[] = [{ at: failure?.lastAt ?? since(view, name), text, kind: 'image' }];
    const entry = context.imageBackOff;
    if (entry !== null)
      causes.push({
        at: entry.since,
        text: `the next pull is held back for ${span(entry.delayMs)} (ImagePullBackOff)`,
        kind: 'backOff',
      });
    return {
      causes,
      ...nextAt(entry === null ? context.deadline : entry.since + entry.delayMs, 'next try, triggered by timer'),
    };
  },
  'starting.awaitingPod': (view, name) => {
    const { tasks, pod } = view.context;
    const found = specContainer(pod, name);
    const awaited = found === null ? undefined : awaitedStart(view.context, found);
    const missing = [
      ...(tasks['sandbox.run']?.state === 'done' ? [] : ['the sandbox']),
      ...(tasks['volumes']?.state === 'done' ? [] : ['the volumes']),
    ];
    if (missing.length === 0 && awaited !== undefined) return afterHook(view, name, awaited);
    const what = missing.length === 0 ? 'the pod' : missing.join(' and ');
    return one(view, name, 'container', `${name}: its image is there; it waits for ${what}`);
  },
  'starting.preparing': (view, name) =>
    tried(
      view,
      name,
      'node',
      `${name}: log folder, hosts file and sub paths are being made`,
      'host.PrepareContainer',
      'making them',
    ),
  'starting.creating': (view, name) =>
    tried(
      view,
      name,
      'container',
      `${name}: the runtime is making the container`,
      'cri.CreateContainer',
      'CreateContainer',
    ),
  'starting.started': (view, name) =>
    tried(
      view,
      name,
      'container',
      `${name}: the runtime is starting the container`,
      'cri.StartContainer',
      'StartContainer',
    ),
  'starting.postStart': (view, name) =>
    one(
      view,
      name,
      'hook',
      `${name}: its process runs; its postStart hook (${hookOf(view, name, 'postStart')}) has not ended`,
    ),
  running: (view, name) => {
    const seen = newestOf(view.context.observed, name);
    const restarts =
      seen === null || seen.restartCount === 0
        ? ''
        : `, after ${seen.restartCount} restart${seen.restartCount === 1 ? '' : 's'}`;
    return {
      causes: [{ at: seen?.startedAt ?? since(view, name), text: `${name} runs${restarts}`, kind: 'container' }],
    };
  },
  'stopping.awaitingStart': (view, name) =>
    stopping(view, name, 'runtime', `${name}: the runtime is starting the container; it is stopped as soon as it runs`),
  'stopping.preStop': (view, name) =>
    stopping(view, name, 'hook', `${name}: its preStop hook (${hookOf(view, name, 'preStop')}) has not ended`),
  'stopping.waitingTurn': (view, name) =>
    stopping(
      view,
      name,
      'container',
      `${name} is a sidecar: it waits until the containers that may need it have stopped`,
    ),
  'stopping.killing': (view, name) => {
    const reason = stopping(view, name, 'container', `${name} was told to stop (SIGTERM) and has not ended`);
    const failure = failureOf(view, `container/${name}/cri.StopContainer`);
    if (failure !== undefined)
      reason.causes.unshift({
        at: failure.lastAt,
        text: failedText(view, `${name}: StopContainer`, failure),
        kind: 'runtime',
      });
    return reason;
  },
  exited: (view, name) => {
    const end = endText(view, name) ?? { at: since(view, name), text: `${name} has ended` };
    const causes: Cause[] = [{ ...end, kind: 'container' }];
    const seen = newestOf(view.context.observed, name);
    const found = specContainer(view.context.pod, name);
    if (seen?.state === 'exited' && found !== null && view.context.termination === null) {
      const policy = found.container.restartPolicy ?? view.context.pod.spec?.restartPolicy ?? 'Always';
      if (found.kind === 'init' && hasSucceeded(view.context, seen))
        causes.push({ at: 0, text: 'an init container that succeeded is not run again', kind: 'config' });
      else if (!shouldRestart(view.context.pod, found.container, seen.exitCode))
        causes.push({ at: 0, text: `it is not started again (restartPolicy ${policy})`, kind: 'config' });
    }
    return { causes };
  },
};

/** What failed, by the reason that the container's status tells; and the effect whose failures are counted. */
const RETRIES: Readonly<Record<string, readonly [what: string, effect: string, kind: CauseKind]>> = {
  InvalidImageName: ['the name of its image cannot be read:', 'none', 'config'],
  ErrImageNeverPull: ['its image is not on the node and may not be pulled (imagePullPolicy Never):', 'none', 'image'],
  ImageInspectError: ['asking the runtime for its image', 'image.Status', 'image'],
  CreateContainerConfigError: ['making its configuration', 'cri.CreateContainer', 'config'],
  CreateContainerError: ['CreateContainer', 'cri.CreateContainer', 'runtime'],
  RunContainerError: ['StartContainer', 'cri.StartContainer', 'runtime'],
};

/** In words, why a container was told to stop. */
const KILLS: Readonly<Record<Exclude<KillReason, 'podTermination'>, string>> = {
  definitionChanged: 'its definition changed: it is replaced',
  restartAll: 'a container of the pod has ended by a rule that restarts all of them',
  resize: 'its resources change, and its resizePolicy wants a restart for that',
  liveness: 'its liveness probe failed',
  startup: 'its startup probe failed',
  postStartHook: 'its postStart hook failed',
  unknownState: 'the runtime does not know how it stands: it is stopped before another is started',
  sandboxChanged: 'the sandbox changed: it ends with the old one',
};

/** What befalls a container at the end of its grace period when it has not got its SIGTERM yet. */
const AT_GRACE_END: Readonly<Record<string, string>> = {
  'stopping.preStop': 'gets its SIGTERM, and two seconds for it, though its hook has not ended',
  'stopping.waitingTurn': 'gets its SIGTERM, and two seconds for it, though its turn has not come',
};

/** Why the container is as it is; a state without an entry is told by its name. */
export function containerReason(view: View, name: string): Reason {
  const state = containerState(view, name);
  return (
    CONTAINER_REASONS[state]?.(view, name) ?? one(view, name, 'container', `${name} is in ${state || 'no state yet'}`)
  );
}

function stopping(view: View, name: string, kind: CauseKind, text: string): Reason {
  const { context } = placeOf(view, name);
  const { kill } = context;
  const causes: Cause[] = [{ at: since(view, name), text, kind }];
  if (kill === null) return { causes };
  const ends = graceEnd(kill);
  // That the pod ends, and its grace period, is said of the pod.
  if (kill.reason !== 'podTermination') {
    causes.push(
      { at: kill.since, text: `it is stopped because ${KILLS[kill.reason]}`, kind: 'termination' },
      {
        at: kill.since,
        text: `its grace period of ${span(kill.graceSeconds * 1000)} ends at ${moment(ends)}`,
        kind: 'termination',
      },
    );
  }
  return {
    causes,
    next: {
      at: ends,
      what: `${name} ${AT_GRACE_END[containerState(view, name)] ?? 'is killed (SIGKILL) if it still runs'}`,
    },
  };
}

/** It waits for a container before it, and for the same reason as that one. */
function afterHook(view: View, name: string, awaited: string): Reason {
  const reason = containerReason(view, awaited);
  const text = `${name}: its image is there; it waits until ${awaited}, which comes before it, has started and its postStart hook has ended`;
  return { ...reason, causes: [{ at: since(view, name), text, kind: 'hook' }, ...reason.causes] };
}

function tried(view: View, name: string, kind: CauseKind, text: string, effect: string, what: string): Reason {
  const reason = one(view, name, kind, text);
  const failure = failureOf(view, `container/${name}/${effect}`);
  if (failure !== undefined)
    reason.causes.push({ at: failure.lastAt, text: failedText(view, `before, ${what}`, failure), kind });
  return reason;
}

function one(view: View, name: string, kind: CauseKind, text: string): Reason {
  return { causes: [{ at: since(view, name), text, kind }] };
}

function since(view: View, name: string): number {
  return machineSince(view, name) || view.history.state.at;
}

function placeOf(view: View, name: string) {
  return view.context.containers[name] ?? { value: 'waiting', context: NOTHING };
}

const NOTHING = { backOff: null, imageBackOff: null, deadline: null, waiting: null, kill: null } as const;

function nextAt(at: number | null, what: string): Pick<Reason, 'next'> {
  return at === null ? {} : { next: { at, what } };
}

function imageOf(view: View, name: string): string {
  return specContainer(view.context.pod, name)?.container.image ?? '';
}

function hookOf(view: View, name: string, which: 'preStop' | 'postStart'): string {
  const handler: NonNullable<Container['lifecycle']>['preStop'] = specContainer(view.context.pod, name)?.container
    .lifecycle?.[which];
  if (handler?.exec) return 'a command';
  if (handler?.httpGet) return `an HTTP request to port ${handler.httpGet.port}`;
  if (handler?.sleep) return `a pause of ${handler.sleep.seconds} s`;
  return 'not set';
}
