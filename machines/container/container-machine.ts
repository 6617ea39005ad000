import { setup } from 'xstate';
import { act } from '../machine-step/act.ts';
import type { ContainerContext, ContainerEvent } from './container-context.ts';
import { initialContainer } from './container-context.ts';
import * as guards from './container-guards.ts';
import * as backing from './back-off-actions.ts';
import * as doubting from './doubt-actions.ts';
import * as image from './image-actions.ts';
import * as postStart from './post-start-actions.ts';
import * as starting from './start-actions.ts';
import * as stopping from './stop-actions.ts';

const machine = setup({
  types: {
    context: {} as ContainerContext,
    events: {} as ContainerEvent,
    input: {} as Pick<ContainerContext, 'name' | 'kind'>,
  },
  actions: { effect: () => undefined },
  guards: {
    inBackOff: ({ context, event }) => guards.inBackOff(context, event),
    imageNameBad: ({ event }) => guards.imageNameBad(event),
    pullAlways: ({ event }) => guards.pullAlways(event),
    imagePresent: ({ context, event }) => guards.imagePresent(context, event),
    imageIsLookedForAgain: ({ event }) => guards.imageIsLookedForAgain(event),
    pullNever: ({ context, event }) => guards.pullNever(context, event),
    own: ({ context, event }) => guards.ownOutcome(context, event),
    mayBeMade: ({ context, event }) => guards.mayBeMade(context, event),
    wasMadeBefore: ({ context, event }) => guards.wasMadeBefore(context, event),
    startedByAnother: ({ context, event }) => guards.startedByAnother(context, event),
    startInDoubt: ({ context, event }) => guards.startInDoubt(context, event),
    doubtIsOver: ({ context, event }) => guards.doubtIsOver(context, event),
    lookTold: ({ context, event }) => guards.lookTold(context, event),
    lookShowsRunning: ({ context, event }) => guards.lookTold(context, event) && guards.seenRunning(context, event),
    configLacking: ({ context, event }) => guards.configLacking(context, event),
    waitsForConfig: ({ context }) => guards.waitsForConfig(context),
    hasPostStart: ({ context, event }) => guards.hasPostStart(context, event),
    nothingAsked: ({ context }) => context.op === '' && context.deadline === null,
    seenRunning: ({ context, event }) => guards.seenRunning(context, event),
    seenEnded: ({ context, event }) => guards.seenEnded(context, event),
    seenStopped: ({ context, event }) => guards.seenStopped(context, event),
    hookFailed: ({ context, event }) => guards.postStartFailed(context, event),
    hookFailedThenPreStop: ({ context, event }) =>
      guards.postStartFailed(context, event) &&
      event.world.container.lifecycle?.preStop !== undefined &&
      postStart.hookKillGrace(event.world) > 0,
    hookWantsHttp: ({ context, event }) => guards.hookWantsHttp(context, event),
    imageHeldBack: ({ context, event }) => guards.ownOutcome(context, event) && !guards.imageDelayOver(context, event),
    pullHeldBack: ({ context, event }) => guards.pullAlways(event) && !guards.imageDelayOver(context, event),
    runsPreStop: ({ context, event }) => guards.runsPreStop(context, event),
    startedThenPreStop: ({ context, event }) => guards.startedThenPreStop(context, event),
    startIsAwaited: ({ event }) => guards.startIsAwaited(event),
    mustWaitTurn: ({ context, event }) => guards.mustWaitTurn(context, event),
    lateHook: ({ context, event }) => guards.ofLateHook(context, event),
    stopFailed: ({ context, event }) => guards.stopFailed(context, event),
  },
});

/** Outcomes of effects that are not the awaited one are dropped: they belong to a step that was overtaken. */
const adopt = [
  { guard: 'seenRunning', target: '#container.running', actions: act(starting.adopted) },
  { guard: 'seenEnded', target: '#container.exited', actions: act(stopping.ended) },
] as const;

const start = [
  { guard: 'inBackOff', target: '#container.backingOff', actions: act(backing.backedOff) },
  { guard: 'imageNameBad', target: '#container.retrying', actions: act(image.badImageName) },
  {
    guard: 'pullHeldBack',
    target: '#container.starting.imageBackOff',
    actions: [act(starting.begun), act(image.imageBackedOff)],
  },
  { guard: 'pullAlways', target: '#container.starting.pullingImage', actions: act(starting.begun) },
  { target: '#container.starting.checkingImage', actions: act(starting.begun) },
] as const;

const kill = [
  { guard: 'runsPreStop', target: '#container.stopping.preStop', actions: act(stopping.killOrdered) },
  { guard: 'mustWaitTurn', target: '#container.stopping.waitingTurn', actions: act(stopping.killOrdered) },
  { target: '#container.stopping.killing', actions: act(stopping.killOrdered) },
] as const;

/** The definition changed before a container was made of it: what held the old one back (a bad image, a delay) no longer counts. */
const anew = { changed: { target: '#container.waiting', actions: act(backing.startAnew) } } as const;

/** A preStop hook that is not waited for any more has ended. */
const late = {
  done: { guard: 'lateHook', actions: act(stopping.lateHookOver) },
  failed: { guard: 'lateHook', actions: act(stopping.lateHookOver) },
} as const;

const failToStart = (reason: string) => [
  { guard: 'own' as const, target: '#container.retrying', actions: act(starting.failed(reason)) },
];

/**
 * One container of a pod: from "not asked for" through image, creation, start and hooks to running, and from
 * there to its end. It decides nothing about restart policies: the pod machine says `start` and `kill`.
 */
export const containerMachine = machine.createMachine({
  id: 'container',
  context: ({ input }) => initialContainer(input.name, input.kind),
  initial: 'waiting',
  states: {
    waiting: {
      description: 'Not asked to run.',
      on: {
        start: [...start],
        observed: [...adopt],
      },
    },
    backingOff: {
      description: 'CrashLoopBackOff: waits until the delay after its last end is over.',
      on: {
        timer: { target: 'waiting', actions: act(backing.waitOver) },
        observed: { guard: 'seenRunning', target: 'running', actions: act(starting.adopted) },
        sync: { actions: act(backing.backOffReminder) },
        changed: { target: 'waiting', actions: act(backing.startAnew) },
      },
    },
    retrying: {
      description: 'A start failed; the pod tries again after a pause.',
      on: {
        timer: { target: 'waiting', actions: act(backing.waitOver) },
        observed: { guard: 'seenRunning', target: 'running', actions: act(starting.adopted) },
        changed: { target: 'waiting', actions: act(backing.startAnew) },
        refresh: { guard: 'waitsForConfig', target: 'waiting', actions: act(backing.waitOver) },
      },
    },
    inDoubt: {
      description: 'StartContainer failed: whether the container runs all the same is being looked at.',
      entry: act(doubting.askWhatBecame),
      on: {
        observed: [
          { guard: 'seenRunning', target: 'running', actions: act(starting.adopted) },
          { guard: 'doubtIsOver', target: 'retrying', actions: act(doubting.doubtOver) },
        ],
        done: [
          { guard: 'lookShowsRunning', target: 'running', actions: act(starting.adopted) },
          { guard: 'own', target: 'retrying', actions: act(doubting.doubtOver) },
        ],
        failed: [
          { guard: 'lookTold', target: 'retrying', actions: act(doubting.doubtOver) },
          { guard: 'own', actions: act(doubting.lookFailed) },
        ],
        timer: { target: 'inDoubt', reenter: true },
      },
    },
    starting: {
      description: 'On its way from image to running.',
      initial: 'checkingImage',
      on: { kill: { target: 'exited', actions: act(stopping.startGivenUp) } },
      states: {
        checkingImage: {
          description: 'The runtime is asked whether the image is there.',
          entry: act(image.askImageStatus),
          on: {
            ...anew,
            done: [
              { guard: 'imagePresent', target: 'awaitingPod', actions: act(image.imageFound) },
              { guard: 'pullNever', target: '#container.retrying', actions: act(image.neverPull) },
              { guard: 'imageHeldBack', target: 'imageBackOff', actions: act(image.imageBackedOff) },
              { guard: 'own', target: 'pullingImage' },
            ],
            failed: { guard: 'own', target: '#container.retrying', actions: act(image.inspectFailed) },
          },
        },
        pullingImage: {
          description: 'The image is being pulled.',
          entry: act(image.askImagePull),
          on: {
            ...anew,
            done: { guard: 'own', target: 'awaitingPod', actions: act(image.imagePulled) },
            failed: { guard: 'own', target: 'imageBackOff', actions: act(image.pullFailed) },
          },
        },
        imageBackOff: {
          description: 'A pull failed: the next one waits for a delay that grows; the image is looked for meanwhile.',
          on: {
            ...anew,
            timer: [
              { guard: 'imageIsLookedForAgain', target: 'checkingImage' },
              { guard: ({ context, event }) => guards.imageDelayOver(context, event), target: 'pullingImage' },
              { actions: act(image.imageBackedOff) },
            ],
          },
        },
        awaitingPod: {
          description:
            'The image is there; the sandbox or the volumes are not yet, or a container before it is still being started.',
          on: {
            ...anew,
            proceed: { guard: 'mayBeMade', target: 'preparing' },
          },
        },
        preparing: {
          description: 'Log folder, hosts file and sub paths are being made.',
          entry: act(starting.askPrepare),
          always: { guard: 'nothingAsked', target: '#container.retrying', actions: act(starting.pauseBeforeRetry) },
          on: {
            ...anew,
            done: [
              { guard: 'wasMadeBefore', target: 'started', actions: act(starting.takenUp) },
              {
                guard: ({ context, event }) => guards.ownOutcome(context, event) && guards.podReady(context, event),
                target: 'creating',
                actions: act(starting.prepared),
              },
              // The sandbox went away meanwhile: wait for the next one.
              { guard: 'own', target: 'awaitingPod', actions: act(starting.prepared) },
            ],
            failed: failToStart('CreateContainerConfigError'),
          },
        },
        creating: {
          description: 'CreateContainer is under way.',
          entry: act(starting.askCreate),
          always: { guard: 'nothingAsked', target: '#container.retrying', actions: act(starting.pauseBeforeRetry) },
          on: {
            done: { guard: 'own', target: 'started', actions: act(starting.created) },
            failed: [
              {
                guard: 'configLacking',
                target: '#container.retrying',
                actions: act(starting.failed('CreateContainerConfigError')),
              },
              ...failToStart('CreateContainerError'),
            ],
          },
        },
        started: {
          description: 'StartContainer is under way.',
          entry: act(starting.askStart),
          on: {
            done: [
              { guard: 'hasPostStart', target: 'postStart', actions: act(starting.startDone) },
              { guard: 'own', target: '#container.running', actions: act(starting.startDoneNoHook) },
            ],
            failed: [
              { guard: 'startedByAnother', target: '#container.retrying', actions: act(starting.leftToAnother) },
              { guard: 'startInDoubt', target: '#container.inDoubt', actions: act(doubting.startDoubted) },
              { guard: 'own', target: '#container.retrying', actions: act(starting.startFailed) },
            ],
            kill: [
              {
                guard: 'startIsAwaited',
                target: '#container.stopping.awaitingStart',
                actions: act(stopping.killOrderedLater),
              },
              ...kill,
            ],
          },
        },
        postStart: {
          description: 'The process runs; its postStart hook is under way.',
          entry: act(postStart.askPostStart),
          on: {
            done: [
              {
                guard: 'hookFailedThenPreStop',
                target: '#container.stopping.preStop',
                actions: act(postStart.postStartFailed),
              },
              { guard: 'hookFailed', target: '#container.stopping.killing', actions: act(postStart.postStartFailed) },
              { guard: 'own', target: '#container.running', actions: act(postStart.postStartDone) },
            ],
            timer: [
              {
                guard: 'hookFailedThenPreStop',
                target: '#container.stopping.preStop',
                actions: act(postStart.postStartFailed),
              },
              { guard: 'hookFailed', target: '#container.stopping.killing', actions: act(postStart.postStartFailed) },
              { target: '#container.running', actions: act(postStart.postStartDone) },
            ],
            failed: [
              { guard: 'hookWantsHttp', actions: act(postStart.askPostStartOverHttp) },
              {
                guard: 'hookFailedThenPreStop',
                target: '#container.stopping.preStop',
                actions: act(postStart.postStartFailed),
              },
              { guard: 'hookFailed', target: '#container.stopping.killing', actions: act(postStart.postStartFailed) },
            ],
            observed: { guard: 'seenEnded', target: '#container.exited', actions: act(stopping.ended) },
            kill: [...kill],
          },
        },
      },
    },
    running: {
      description: 'The container runs.',
      on: {
        observed: { guard: 'seenEnded', target: 'exited', actions: act(stopping.ended) },
        timer: { actions: act(starting.lookAgain) },
        kill: [...kill],
      },
    },
    stopping: {
      description: 'Told to stop.',
      initial: 'killing',
      on: {
        observed: { guard: 'seenEnded', target: '#container.exited', actions: act(stopping.ended) },
        ...late,
      },
      states: {
        awaitingStart: {
          description:
            'StartContainer is still under way: what it starts is stopped then, or when the grace period is over.',
          on: {
            done: [
              { guard: 'startedThenPreStop', target: 'preStop', actions: act(starting.startDoneToStop) },
              { guard: 'mustWaitTurn', target: 'waitingTurn', actions: act(starting.startDoneToStop) },
              { guard: 'own', target: 'killing', actions: act(starting.startDoneToStop) },
            ],
            failed: { guard: 'own', target: 'killing' },
            timer: 'killing',
            kill: { actions: act(stopping.graceShortened) },
          },
        },
        preStop: {
          description: 'The preStop hook runs, within the grace period.',
          entry: act(stopping.askPreStop),
          on: {
            done: [
              { guard: 'mustWaitTurn', target: 'waitingTurn', actions: act(stopping.preStopDone) },
              { guard: 'own', target: 'killing', actions: act(stopping.preStopDone) },
            ],
            failed: [
              { guard: 'hookWantsHttp', actions: act(stopping.askPreStopOverHttp) },
              { guard: 'mustWaitTurn', target: 'waitingTurn', actions: act(stopping.preStopFailed) },
              { guard: 'own', target: 'killing', actions: act(stopping.preStopFailed) },
            ],
            timer: [
              {
                guard: ({ context, event }) => guards.sleepEndsEarly(context, event),
                target: 'waitingTurn',
                actions: act(stopping.preStopTimeOver),
              },
              { target: 'killing', actions: act(stopping.preStopTimeOver) },
            ],
            observed: { guard: 'seenEnded', target: '#container.exited', actions: act(stopping.endedInHook) },
            kill: { actions: act(stopping.graceShortened) },
          },
        },
        waitingTurn: {
          description: 'A sidecar waits until the containers that need it have stopped, or the grace period is over.',
          entry: act(stopping.awaitTurn),
          on: {
            turn: 'killing',
            timer: 'killing',
            kill: { actions: act(stopping.graceShortened) },
          },
        },
        killing: {
          description: 'StopContainer is under way: SIGTERM, and SIGKILL after the rest of the grace period.',
          entry: act(stopping.askStop),
          on: {
            done: { guard: 'own', actions: act(stopping.stopped) },
            failed: [
              { guard: 'stopFailed', actions: act(stopping.stopWillBeRetried) },
              { guard: 'own', actions: act(stopping.stopped) },
            ],
            timer: { target: 'killing', reenter: true },
            kill: { target: 'killing', reenter: true, actions: act(stopping.graceShortened) },
            observed: { guard: 'seenStopped', target: '#container.exited', actions: act(stopping.ended) },
          },
        },
      },
    },
    exited: {
      description: 'The container has ended.',
      on: {
        start: [...start],
        observed: { guard: 'seenRunning', target: 'running', actions: act(starting.adopted) },
        ...late,
      },
    },
  },
});
