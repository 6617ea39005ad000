import { randomInt } from 'node:crypto';
import { ActorletError } from '../../machines/errors/define.ts';
import { simErrors } from '../../machines/errors/sim-errors.ts';
import type { ContainerEventType } from '../generated/runtime/v1/api.ts';
import { answerCalls, answerEvents } from './answer-calls.ts';
import type { CallsInProgress } from './answer-calls.ts';
import type { CallJournal } from './call-journal.ts';
import { buildCore } from './build-core.ts';
import { containerHandlers } from './container-service.ts';
import type { EventStream } from './event-hub.ts';
import { execHandlers } from './exec-service.ts';
import type { ImageHandlers, RuntimeHandlers } from './handlers.ts';
import { imageHandlers } from './image-service.ts';
import { nodeHandlers } from './node-service.ts';
import { checkScript } from './read-script.ts';
import type { ConditionName, NotReady } from './readiness.ts';
import type { ContainerRecord, ImageRecord, SandboxRecord } from './records.ts';
import { loseAllProcesses, sandboxDies } from './sandbox-life.ts';
import { sandboxHandlers } from './sandbox-service.ts';
import { execSchema, faultSchema } from './script.ts';
import type { ExecRuleInput, FaultRuleInput, SimPlan, SimScript } from './script.ts';
import type { SimCore } from './sim-core.ts';
import { SimServer } from './sim-server.ts';
import { statsHandlers } from './stats-service.ts';

/** How to start a simulated runtime. */
export interface SimulatedRuntimeOptions {
  /** Path of the unix socket. */
  socket: string;
  script?: SimScript;
  /** Beats the script's; without either one is drawn and told in `.seed`. */
  seed?: number;
}

/** A look inside, for tests. */
export interface SimState {
  readonly sandboxes: ReadonlyMap<string, SandboxRecord>;
  readonly containers: ReadonlyMap<string, ContainerRecord>;
  readonly images: ReadonlyMap<string, ImageRecord>;
  /** Counts by RPC and the last 2,000 calls. */
  readonly calls: CallJournal;
  /** Calls that hang now. */
  readonly hanging: number;
  /** Open event streams. */
  readonly eventStreams: number;
  /** Timers that run: container ends, log lines, delays. */
  readonly timers: number;
  /** Pod addresses in use, by family. */
  readonly addressesInUse: readonly number[];
}

type LiveFault = Omit<FaultRuleInput, 'fail' | 'hang'>;

/** A CRI v1 runtime that keeps everything in memory and behaves as its script says. */
export class SimulatedRuntime {
  readonly socket: string;
  readonly seed: number;
  readonly state: SimState;
  readonly #core: SimCore;
  readonly #server: SimServer;
  readonly #inProgress: CallsInProgress = new Set();
  #stopped = false;
  /** The restart that is under way: until it listens again. */
  #away: Promise<void> | null = null;
  /** When it may come back (`performance.now()`). */
  #awayUntil = 0;
  /** Ends the wait of a restart, when the runtime is stopped meanwhile. */
  #wake: () => void = () => {};

  constructor(socket: string, core: SimCore) {
    this.socket = socket;
    this.seed = core.seed;
    this.#core = core;
    this.state = stateOf(core);
    const runtime: RuntimeHandlers = {
      ...sandboxHandlers(core),
      ...containerHandlers(core),
      ...execHandlers(core),
      ...statsHandlers(core),
      ...nodeHandlers(core),
    };
    const images: ImageHandlers = imageHandlers(core);
    const events = answerEvents(core, this.#inProgress);
    this.#server = new SimServer(
      socket,
      {
        ...answerCalls(core, runtime, this.#inProgress),
        getContainerEvents: (stream: EventStream) => events(stream),
      },
      answerCalls(core, images, this.#inProgress),
    );
  }

  /** Listens, and lets the script's time begin. */
  async open(): Promise<void> {
    await this.#server.open();
    const { restarts, eventsOff } = this.#core.plan.runtime;
    for (const { at, down, keepContainers } of restarts) {
      this.#core.timers.after(at, () => void this.restart({ downMs: down, keepContainers }));
    }
    for (const window of eventsOff) {
      this.#core.timers.after(window.from, () => this.#core.events.setOn(false));
      if (window.for !== undefined) {
        this.#core.timers.after(window.from + window.for, () => this.#core.events.setOn(true));
      }
    }
  }

  /** Ends all connections, timers and logs and removes the socket. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#endCalls();
    this.#core.timers.stop();
    this.#wake();
    this.#core.logs.closeAll();
    // A turn of the loop lets the sockets close before whoever waits removes their folder.
    await new Promise((resolve) => setImmediate(resolve));
  }

  /**
   * The runtime goes away for `downMs` and comes back: calls in progress are lost and the socket is absent.
   * Containers live on meanwhile unless `keepContainers` is false. Resolves when it listens again. One that is asked for
   * while it is away keeps it away for as long as the later of the two says; so none of a script is lost on a busy machine.
   */
  async restart({
    downMs = 0,
    keepContainers = true,
  }: { downMs?: number; keepContainers?: boolean } = {}): Promise<void> {
    if (this.#stopped) return;
    this.#awayUntil = Math.max(this.#awayUntil, performance.now() + downMs);
    this.#endCalls();
    if (!keepContainers) loseAllProcesses(this.#core);
    this.#away ??= this.#comeBack().finally(() => (this.#away = null));
    await this.#away;
  }

  /** Listens again when its time has come; not at all when it was stopped meanwhile. */
  async #comeBack(): Promise<void> {
    for (;;) {
      // Once at least: whoever is away for no time is away for a turn of the loop.
      do await this.#pause(Math.max(0, this.#awayUntil - performance.now()));
      while (!this.#stopped && performance.now() < this.#awayUntil);
      if (this.#stopped) return;
      const until = this.#awayUntil;
      await this.#server.open();
      // It was to go away again, or was stopped, while it was on its way back.
      if (!this.#stopped && until === this.#awayUntil) return;
      this.#endCalls();
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
      this.#core.timers.after(ms, resolve);
    });
  }

  /** Sets the answers to commands in matching containers; beats the script and what was set before. */
  setExec({ match, ...behaviour }: ExecRuleInput): void {
    const globs = faultSchema.parse({ match, hang: 'forever' }).match;
    this.#core.exec.add({ match: globs, behaviour: execSchema.parse(behaviour) });
  }

  /** The container's process ends now. Throws SIM006 when there is none of this id. */
  exitContainer(id: string, code: number, reason?: string, message?: string): void {
    this.#core.processes.exit(this.#container(id), code, reason, message);
  }

  /** The sandbox's own process dies. Throws SIM007 when there is none of this id. */
  exitSandbox(id: string, { killsContainers = true } = {}): void {
    const record = this.#core.sandboxes.find(id);
    if (record === undefined) throw new ActorletError(simErrors.unknownSandbox, { id });
    sandboxDies(this.#core, record, killsContainers);
  }

  /** The container writes to its log. */
  writeLog(id: string, text: string, stream: 'stdout' | 'stderr' = 'stdout'): void {
    this.#core.processes.writeLog(this.#container(id), stream, text);
  }

  /** Calls that match hang: for ever, or for `hang` (a duration). {@link release} ends it. */
  hang(rule: LiveFault & { hang?: FaultRuleInput['hang'] } = {}): void {
    this.#core.faults.addLive(faultSchema.parse({ hang: 'forever', ...rule }));
  }

  /** Takes back what {@link hang} has set and lets every held call go on. */
  release(): void {
    this.#core.faults.dropLive('hang');
    this.#core.hangs.release();
  }

  /** Calls that match fail with `fail` (code by Go's name, message). */
  fail(rule: LiveFault & { fail: NonNullable<FaultRuleInput['fail']> }): void {
    this.#core.faults.addLive(faultSchema.parse(rule));
  }

  /** Takes back what {@link fail} has set. */
  clearFailures(): void {
    this.#core.faults.dropLive('fail');
  }

  /** Sends an event as it is now, true or not. `id`: of a container or a sandbox. Throws SIM006 for neither. */
  emitEvent(id: string, type: ContainerEventType): void {
    const sandbox = this.#core.sandboxes.find(id) ?? this.#container(id).sandbox;
    this.#core.events.emit(id, type, sandbox);
  }

  /** Ends all event streams with Unavailable; new ones can open. */
  dropEventStreams(): void {
    this.#core.events.dropAll();
  }

  /** Off: event streams end with Unavailable and none opens. */
  setEvents(on: boolean): void {
    this.#core.events.setOn(on);
  }

  /** Beats the script: a problem, `null` = ready, undefined = the script again. */
  setReady(condition: ConditionName, problem: NotReady | null | undefined): void {
    this.#core.readiness.set(condition, problem);
  }

  #container(id: string): ContainerRecord {
    const record = this.#core.containers.find(id);
    if (record === undefined) throw new ActorletError(simErrors.unknownContainer, { id });
    return record;
  }

  #endCalls(): void {
    this.#server.close();
    for (const call of [...this.#inProgress]) call.abort();
  }
}

/** Starts a simulated runtime. Throws SIM003 for a wrong script, SIM004 and SIM005 when it cannot listen. */
export async function startSimulatedRuntime({
  socket,
  script,
  seed,
}: SimulatedRuntimeOptions): Promise<SimulatedRuntime> {
  return startPlannedRuntime({ socket, plan: checkScript(script ?? {}), seed });
}

/** As {@link startSimulatedRuntime}, with a script that was checked already. */
export async function startPlannedRuntime(options: {
  socket: string;
  plan: SimPlan;
  seed?: number;
}): Promise<SimulatedRuntime> {
  const { socket, plan, seed = plan.seed ?? randomInt(0x1_0000_0000) } = options;
  const runtime = new SimulatedRuntime(socket, buildCore(plan, seed));
  await runtime.open();
  return runtime;
}

function stateOf(core: SimCore): SimState {
  return {
    sandboxes: core.sandboxes.byId,
    containers: core.containers.byId,
    images: core.images.byId,
    calls: core.calls,
    get hanging() {
      return core.hangs.size;
    },
    get eventStreams() {
      return core.events.size;
    },
    get timers() {
      return core.timers.size;
    },
    get addressesInUse() {
      return core.addresses.map((pool) => pool.inUse);
    },
  };
}
