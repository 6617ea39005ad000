import { initialTransition } from 'xstate';
import type { AnyMachineSnapshot } from 'xstate';
import { statePath, step } from '../../../machines/machine-step/step.ts';
import type { ProbeContext, ProbeEvent, ProbeKind, ProbeWorld } from '../../../machines/probe/probe-context.ts';
import { probeMachine } from '../../../machines/probe/probe-machine.ts';
import type { Probe } from '../../../machines/protocol/api-types.ts';
import type { Effect, EffectCatalog, EffectType } from '../../../machines/protocol/effects.ts';
import type { EffectDone } from '../../../machines/protocol/messages.ts';
import { pod, settings } from '../pod/pod-world.ts';

export const visited = new Set<string>();

type Bare = ProbeEvent extends infer E ? (E extends unknown ? Omit<E, 'world'> : never) : never;

/** One probe machine on a bench; its container `c1` runs since `at`, and has started. */
export class ProbeBench {
  at = 1_000_000;
  snapshot: AnyMachineSnapshot;
  effects: Effect[] = [];
  over: Partial<ProbeWorld> = {};
  probe: Probe;

  constructor(kind: ProbeKind, probe: Partial<Probe> = {}) {
    this.probe = {
      exec: { command: ['check', 'it'] },
      periodSeconds: 10,
      timeoutSeconds: 1,
      failureThreshold: 3,
      successThreshold: 1,
      ...probe,
    };
    this.snapshot = initialTransition(probeMachine, { container: 'c', kind })[0] as AnyMachineSnapshot;
    this.over = { started: kind !== 'startup', runningId: 'c1', startedAt: this.at };
    visited.add(this.state);
  }

  get state(): string {
    return statePath(this.snapshot.value);
  }
  get context(): ProbeContext {
    return this.snapshot.context as ProbeContext;
  }

  tell(event: Bare): Effect[] {
    const container = { name: 'c', image: 'img:1', ports: [{ name: 'web', containerPort: 8080 }] };
    const world: ProbeWorld = {
      at: this.at,
      pod: pod({ containers: [container] }),
      container,
      probe: this.probe,
      podIP: '10.88.0.2',
      runningId: '',
      startedAt: 0,
      started: false,
      stopped: 'none',
      settings,
      adopted: false,
      ...this.over,
    };
    const { snapshot, effects } = step(probeMachine, this.snapshot, { ...event, world } as ProbeEvent);
    this.snapshot = snapshot;
    this.effects.push(...effects);
    visited.add(this.state);
    return effects;
  }
  look(over: Partial<ProbeWorld> = {}): Effect[] {
    Object.assign(this.over, over);
    return this.tell({ type: 'look' });
  }
  /** Moves the clock to the deadline and serves it. */
  ring(): Effect[] {
    if (this.context.deadline === null) throw new Error(`${this.state} has no deadline`);
    this.at = Math.max(this.at, this.context.deadline);
    return this.tell({ type: 'timer' });
  }
  done<T extends EffectType>(effect: T, result: EffectCatalog[T]['result'], key = this.context.op): Effect[] {
    return this.tell({
      type: 'done',
      outcome: { type: 'effect.done', at: this.at, effect, key, result } as EffectDone,
    });
  }
  failed(effect: EffectType, code: string, message = 'boom', key = this.context.op): Effect[] {
    return this.tell({
      type: 'failed',
      outcome: { type: 'effect.failed', at: this.at, effect, key, error: { code, message } },
    });
  }
  /** One run of an exec probe with that exit code. */
  run(exitCode: number): string {
    this.ring();
    this.done('cri.ExecSync', { exitCode, output: 'out' });
    return this.context.result;
  }
}
