import assert from 'node:assert/strict';
import type { PodSnapshot } from '../../../machines/pod/pod-context.ts';
import { nextDeadline, podState, restoredPod, stepPod } from '../../../machines/pod/pod-step.ts';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import type { Effect } from '../../../machines/protocol/effects.ts';
import type { PodMemory } from '../../../machines/protocol/memory.ts';
import type { EffectDone, PodMessage } from '../../../machines/protocol/messages.ts';
import { PodWorld } from './pod-world.ts';
import type { Reply } from './pod-world.ts';

/** A small seeded generator (mulberry32), so that a failing run can be run again. */
export function random(seed: number): () => number {
  let a = seed >>> 0;
  return () => {
    a = (a + 0x6d2b79f5) >>> 0;
    let t = Math.imul(a ^ (a >>> 15), a | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const PHASES = ['syncing', 'terminating', 'terminated'];
const phaseOf = (state: string) => PHASES.indexOf(state.split('.')[0] ?? '');

/** Plain JSON only: what would change on its way through a journal is named by its path. */
export function notPlain(value: unknown, path = ''): string | null {
  if (value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean') return null;
  if (typeof value === 'number') return Number.isFinite(value) ? null : path;
  if (typeof value !== 'object') return path;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) return path;
  for (const [key, child] of Object.entries(value)) {
    const bad = notPlain(child, `${path}.${key}`);
    if (bad !== null) return bad;
  }
  return null;
}

/**
 * A world that misbehaves: answers come late, twice, out of order or as failures (with the work done all the
 * same); observations lag. Every step is checked against what must always hold.
 */
export class ChaosWorld extends PodWorld {
  next: () => number;
  chaos: number;
  runtimeUp = true;
  /** Steps in the simulated second of `second`. */
  private second = 0;
  private stepsInSecond = 0;
  private emitted = '';
  private nextRelist = 0;
  private terminalPhase = '';
  private replayEvery = 1;
  steps = 0;
  private slow: { id: string; at: number }[] = [];
  log: string[] = [];

  constructor(definition: Pod, seed: number, chaos: number, memory: PodMemory | null = null, before?: PodWorld) {
    super(definition, memory, before, false);
    this.next = random(seed);
    this.chaos = chaos;
    this.begin(memory, before !== undefined);
  }

  override send(message: PodMessage): void {
    for (const { id } of this.slow.filter((s) => s.at <= this.at))
      this.sandboxes = this.sandboxes.map((s) => (s.id === id ? { ...s, state: 'ready' as const } : s));
    this.slow = this.slow.filter((s) => s.at > this.at);
    const before = this.snapshot;
    this.log.push(
      `${message.at} ${message.type} ${'key' in message ? message.key : ''} ${message.type === 'effect.failed' ? message.error.code : ''} ${podState(before)}`,
    );
    const { snapshot, effects } = stepPod(before, message);
    this.steps++;
    if (this.steps % this.replayEvery === 0) this.checkReplay(before, message, snapshot, effects);
    this.checkStep(before, snapshot, effects);
    this.snapshot = snapshot;
    if (this.states.at(-1) !== this.state) this.states.push(this.state);
    for (const effect of effects) this.carryOut(effect);
    const live = this.running();
    assert.equal(new Set(live).size, live.length, `two live containers of one name: ${live.join(' ')}`);
    const ready = this.sandboxes.filter((s) => s.state === 'ready').map((s) => s.id);
    assert.ok(ready.length < 2, `two ready sandboxes: ${ready.join(' ')}`);
  }

  private checkReplay(before: PodSnapshot, message: PodMessage, after: PodSnapshot, effects: Effect[]): void {
    const json = <T>(x: T): T => JSON.parse(JSON.stringify(x)) as T;
    const again = stepPod(restoredPod(json(before.value), json(before.context)), json(message));
    assert.equal(JSON.stringify(again.effects), JSON.stringify(effects), 'a replayed step has other effects');
    assert.equal(
      JSON.stringify(again.snapshot.value),
      JSON.stringify(after.value),
      'a replayed step has another state',
    );
    assert.equal(
      JSON.stringify(again.snapshot.context),
      JSON.stringify(after.context),
      'a replayed step has another context',
    );
  }

  private checkStep(before: PodSnapshot, after: PodSnapshot, effects: Effect[]): void {
    assert.ok(phaseOf(podState(after)) >= phaseOf(podState(before)), `${podState(before)} -> ${podState(after)}`);
    assert.equal(after.context.focus, podState(after), 'the chart follows the focus');
    for (const effect of effects) {
      assert.equal(notPlain(effect), null, `${effect.type} is not plain JSON`);
      if (effect.type === 'cri.CreateContainer')
        assert.notEqual(effect.params.podSandboxId, '', 'a container is made in a sandbox');
      if (effect.type !== 'status.Publish') continue;
      const { phase = '' } = effect.params.status;
      if (this.terminalPhase !== '') assert.equal(phase, this.terminalPhase, 'a terminal phase never goes back');
      if (phase === 'Succeeded' || phase === 'Failed') this.terminalPhase = phase;
    }
    const keys = effects.map((e) => e.key).filter((k) => k !== '' && !k.startsWith('inspect/'));
    assert.equal(new Set(keys).size, keys.length, 'keys are unique');
    const second = Math.floor(this.at / 1000);
    this.stepsInSecond = second === this.second ? this.stepsInSecond + 1 : 1;
    this.second = second;
    assert.ok(this.stepsInSecond < 400, `a busy loop in ${podState(after)}: ${this.log.slice(-6).join('\n')}`);
  }

  /** Lets time pass with PLEG relisting each second and telling changes, late when the world is in chaos. */
  live(ms: number): void {
    const end = this.at + ms;
    while (this.at < end) {
      this.run(Math.min(1_000, end - this.at));
      if (this.at < this.nextRelist) continue;
      this.nextRelist = this.at + 1_000;
      if (!this.runtimeUp) continue;
      const text = JSON.stringify([this.sandboxes, this.containers]);
      if (text === this.emitted) continue;
      this.emitted = text;
      this.deliver({ type: 'pod.observed', at: 0, observed: this.observe() }, 0);
    }
  }

  private deliver(message: PodMessage, delay: number): void {
    const late = this.next() < this.chaos ? Math.floor(this.next() * 3_000) : 0;
    this.due.push({ at: this.at + delay + late, message });
    if (this.next() < this.chaos * 0.3)
      this.due.push({ at: this.at + delay + late + Math.floor(this.next() * 4_000), message });
  }

  protected override carryOut(effect: Effect): void {
    this.effects.push(effect);
    if (effect.type === 'event.Record') this.events.push(`${effect.params.reason}: ${effect.params.message}`);
    if (effect.type === 'status.Publish') {
      this.status = effect.params.status;
      this.memory = effect.params.memory;
    }
    if (effect.type === 'pod.Finished') this.finished = true;
    if (effect.type === 'pleg.Observe' && this.runtimeUp)
      this.deliver({ type: 'pod.observed', at: 0, observed: this.observe() }, 5);
    if (effect.key === '') return;
    const reply = this.replyTo(effect);
    const base = { at: 0, effect: effect.type, key: effect.key };
    const message =
      'error' in reply.reply
        ? { type: 'effect.failed' as const, ...base, error: reply.reply.error }
        : ({ type: 'effect.done', ...base, result: reply.reply.result } as EffectDone);
    this.deliver(message, reply.delay);
  }

  private replyTo(effect: Effect): { reply: Exclude<Reply, 'hang'>; delay: number } {
    const own = this.answers[effect.type]?.(effect, this);
    if (own !== undefined && own !== 'hang') return { reply: own, delay: this.delayMs };
    const toRuntime = effect.type.startsWith('cri.') || effect.type.startsWith('image.');
    if (toRuntime && !this.runtimeUp)
      return { reply: { error: { code: 'Unavailable', message: 'connection refused' } }, delay: 1 };
    const dice = this.next();
    if (dice < this.chaos * 0.15)
      return { reply: { error: { code: 'Unknown', message: 'it went wrong' } }, delay: this.delayMs };
    const done = this.answer(effect);
    const reply = done === 'hang' ? { error: { code: 'Unknown', message: 'hang' } } : done;
    // The work was done, but the answer never came: the caller's own deadline ends the call.
    if (dice < this.chaos * 0.25)
      return { reply: { error: { code: 'DeadlineExceeded', message: 'context deadline exceeded' } }, delay: 15_000 };
    if (effect.type === 'cri.RunPodSandbox' && this.sandboxes[0]?.state === 'notReady') return { reply, delay: 2_000 };
    return { reply, delay: effect.type === 'cri.StopContainer' ? 800 : this.delayMs };
  }

  /** The runtime's own rules: nothing is made in or started from what is not there. */
  protected override answer(effect: Effect): Reply {
    const gone: Reply = { error: { code: 'NotFound', message: 'not found' } };
    if (effect.type === 'cri.CreateContainer') {
      const sandbox = this.sandboxes.find((s) => s.id === effect.params.podSandboxId);
      if (sandbox === undefined) return gone;
      if (sandbox.state !== 'ready') return { error: { code: 'Unknown', message: 'the sandbox is not running' } };
      const { name, attempt } = effect.params.config.metadata;
      if (this.containers.some((c) => c.name === name && c.restartCount === attempt && c.sandboxId === sandbox.id)) {
        return { error: { code: 'Unknown', message: `name ${name}_${attempt} is reserved` } };
      }
    }
    if (
      effect.type === 'cri.RunPodSandbox' &&
      this.sandboxes.some((s) => s.attempt === effect.params.config.metadata.attempt)
    ) {
      return { error: { code: 'Unknown', message: 'the name of the sandbox is reserved' } };
    }
    if (effect.type === 'cri.StartContainer') {
      const c = this.containers.find((x) => x.id === effect.params.containerId);
      if (c === undefined) return gone;
      if (c.state !== 'created' || this.sandboxes.find((s) => s.id === c.sandboxId)?.state !== 'ready')
        return { error: { code: 'Unknown', message: 'it cannot be started' } };
    }
    if (effect.type === 'cri.RemoveContainer') {
      const c = this.containers.find((x) => x.id === effect.params.containerId);
      if (c?.state === 'running') return { error: { code: 'Unknown', message: 'it runs' } };
    }
    if (effect.type === 'cri.RunPodSandbox' && this.next() < this.chaos * 0.5) return this.slowSandbox(effect);
    if (effect.type === 'cri.StopPodSandbox' || effect.type === 'cri.RemovePodSandbox')
      this.slow = this.slow.filter((s) => s.id !== effect.params.podSandboxId);
    if (effect.type === 'cri.StopPodSandbox') this.endContainersOf(effect.params.podSandboxId, 137);
    if (effect.type === 'cri.RemovePodSandbox')
      this.containers = this.containers.filter((c) => c.sandboxId !== effect.params.podSandboxId);
    if (
      effect.type === 'cri.ExecSync' &&
      this.containers.find((c) => c.id === effect.params.containerId)?.state !== 'running'
    )
      return { error: { code: 'Unknown', message: 'it does not run' } };
    return super.answer(effect);
  }

  /** Some runtimes list a sandbox as not ready while it is being made; it becomes ready with the answer. */
  private slowSandbox(effect: Effect): Reply {
    const reply = super.answer(effect);
    const id = this.sandboxes[0]?.id;
    this.sandboxes = this.sandboxes.map((s) => (s.id === id ? { ...s, state: 'notReady' as const } : s));
    this.slow.push({ id: id ?? '', at: this.at + 2_000 });
    return reply;
  }

  private endContainersOf(sandboxId: string, exitCode: number): void {
    this.containers = this.containers.map((c) =>
      c.sandboxId === sandboxId && c.state === 'running'
        ? { ...c, state: 'exited' as const, exitCode, finishedAt: this.at, reason: 'Error' }
        : c,
    );
  }

  /** The newest container of that name ends by itself, unseen until PLEG looks. */
  quietExit(name: string, exitCode: number): void {
    const c = this.containers.find((x) => x.name === name && x.state === 'running');
    if (c !== undefined)
      this.replace({
        ...c,
        state: 'exited',
        exitCode,
        finishedAt: this.at,
        reason: exitCode === 0 ? 'Completed' : 'Error',
      });
  }

  killSandbox(): void {
    const latest = this.sandboxes[0];
    if (latest?.state !== 'ready') return;
    this.endContainersOf(latest.id, 137);
    this.sandboxes = this.sandboxes.map((s) => (s.id === latest.id ? { ...s, state: 'notReady' as const } : s));
  }

  setRuntime(up: boolean): void {
    this.runtimeUp = up;
    this.emitted = '';
    if (!this.finished) this.send({ type: 'runtime.state', at: this.at, runtimeReady: up, networkReady: up });
  }

  heal(): void {
    this.chaos = 0;
    this.answers = {};
    if (!this.runtimeUp) this.setRuntime(true);
    this.emitted = '';
  }

  /** When the machine asks for the next timer, for checks from outside. */
  get deadline(): number | null {
    return nextDeadline(this.snapshot);
  }
}
