import { initialTransition } from 'xstate';
import type { AnyMachineSnapshot } from 'xstate';
import { containerHash } from '../../../machines/container-config/container-hash.ts';
import type {
  ContainerContext,
  ContainerEvent,
  ContainerKind,
  ContainerWorld,
  KillOrder,
} from '../../../machines/container/container-context.ts';
import { containerMachine } from '../../../machines/container/container-machine.ts';
import { statePath, step } from '../../../machines/machine-step/step.ts';
import type { Container } from '../../../machines/protocol/api-types.ts';
import type { Effect, EffectCatalog, EffectType } from '../../../machines/protocol/effects.ts';
import type { EffectDone } from '../../../machines/protocol/messages.ts';
import type { ObservedContainer } from '../../../machines/protocol/observed.ts';
import { sandboxConfig } from '../../../machines/sandbox-config/sandbox-config.ts';
import { pod, settings } from '../pod/pod-world.ts';

/** A container as the runtime would report it. */
export function seen(over: Partial<ObservedContainer> = {}): ObservedContainer {
  return {
    id: 'c1',
    name: 'c',
    sandboxId: 's1',
    state: 'running',
    createdAt: 1,
    startedAt: 1,
    finishedAt: 0,
    exitCode: 0,
    reason: '',
    message: '',
    image: 'img:1',
    imageRef: 'img:1',
    imageId: 'img:1',
    logPath: '',
    hash: '',
    restartCount: 0,
    annotations: {},
    labels: {},
    ...over,
  };
}

/** Every state that any bench has been in: the model test asks whether the tables reach them all. */
export const visited = new Set<string>();

type Bare = ContainerEvent extends infer E ? (E extends unknown ? Omit<E, 'world'> : never) : never;

/** One container machine on a bench: the test is its pod, its runtime and its clock. */
export class ContainerBench {
  snapshot: AnyMachineSnapshot;
  at = 1_000_000;
  container: Container;
  over: Partial<ContainerWorld> = {};
  effects: Effect[] = [];

  constructor(container: Partial<Container> = {}, kind: ContainerKind = 'regular') {
    this.container = { name: 'c', image: 'img:1', imagePullPolicy: 'IfNotPresent', ...container };
    this.snapshot = initialTransition(containerMachine, { name: 'c', kind })[0] as AnyMachineSnapshot;
    visited.add(this.state);
  }

  get state(): string {
    return statePath(this.snapshot.value);
  }
  get context(): ContainerContext {
    return this.snapshot.context as ContainerContext;
  }
  get world(): ContainerWorld {
    const definition = pod({ containers: [this.container] });
    return {
      at: this.at,
      pod: definition,
      container: this.container,
      settings,
      hash: containerHash(this.container),
      sandboxId: 's1',
      sandboxConfig: sandboxConfig(definition, 0, settings),
      podIPs: ['10.88.0.2'],
      volumePaths: {},
      observed: null,
      lookedAt: 0,
      nextAttempt: 0,
      madeBefore: '',
      runtimeHandler: '',
      targetId: '',
      ...this.over,
    };
  }

  /** Hands the machine an event; returns the effects of this step. */
  tell(event: Bare): Effect[] {
    const { snapshot, effects } = step(containerMachine, this.snapshot, {
      ...event,
      world: this.world,
    } as ContainerEvent);
    this.snapshot = snapshot;
    this.effects.push(...effects);
    visited.add(this.state);
    return effects;
  }

  done<T extends EffectType>(effect: T, result: EffectCatalog[T]['result'], key = this.context.op): Effect[] {
    return this.tell({
      type: 'done',
      outcome: { type: 'effect.done', at: this.at, effect, key, result } as EffectDone,
    });
  }
  failed(effect: EffectType, code: string, message: string, key = this.context.op): Effect[] {
    return this.tell({
      type: 'failed',
      outcome: { type: 'effect.failed', at: this.at, effect, key, error: { code, message } },
    });
  }
  kill(graceSeconds: number, over: Partial<KillOrder> = {}): Effect[] {
    return this.tell({
      type: 'kill',
      order: { reason: 'podTermination', message: '', graceSeconds, since: this.at, waitTurn: false, ...over },
    });
  }
  /** Moves the clock to the machine's deadline and serves it. */
  ring(): Effect[] {
    if (this.context.deadline === null) throw new Error(`${this.state} has no deadline`);
    this.at = Math.max(this.at, this.context.deadline);
    return this.tell({ type: 'timer' });
  }

  /** Brings it to a state on the way up. */
  to(state: string): this {
    const way: [string, () => void][] = [
      ['starting.checkingImage', () => this.tell({ type: 'start' })],
      [
        'starting.awaitingPod',
        () => this.done('image.Status', { present: { imageRef: 'img:1', uid: null, username: '' } }),
      ],
      ['starting.preparing', () => this.tell({ type: 'proceed' })],
      ['starting.creating', () => this.done('host.PrepareContainer', { subPaths: {} })],
      ['starting.started', () => this.done('cri.CreateContainer', { containerId: 'c1' })],
      ['running', () => this.startDone()],
    ];
    for (const [name, go] of way) {
      if (this.state === state) return this;
      go();
      if (name !== this.state && this.state !== state) throw new Error(`on the way to ${name}: ${this.state}`);
    }
    if (this.state !== state) throw new Error(`${state} not reached: ${this.state}`);
    return this;
  }
  private startDone(): void {
    this.over.observed = seen();
    this.done('cri.StartContainer', {});
  }
  ended(over: Partial<ObservedContainer> = {}): void {
    this.over.observed = seen({ state: 'exited', exitCode: 1, finishedAt: this.at, ...over });
    this.over.nextAttempt = (this.over.observed.restartCount ?? 0) + 1;
    this.tell({ type: 'observed' });
  }
}

/** Reasons of the events among effects. */
export function reasons(effects: Effect[]): string[] {
  return effects.flatMap((e) => (e.type === 'event.Record' ? [e.params.reason] : []));
}
/** The effect of that type among effects. */
export function find<T extends EffectType>(effects: Effect[], type: T): EffectCatalog[T]['params'] {
  const found = effects.find((e) => e.type === type);
  if (found === undefined) throw new Error(`no ${type} among ${effects.map((e) => e.type).join(' ')}`);
  return found.params as EffectCatalog[T]['params'];
}
