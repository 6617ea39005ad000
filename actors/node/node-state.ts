import type { Logger } from 'pino';
import { bornSnapshot, statePath } from '../../machines/machine-step/step.ts';
import type { NodeContext, NodeMessage, NodeOrder } from '../../machines/node/node-context.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { nodeErrors } from '../../machines/errors/node-errors.ts';
import { nodeMachine } from '../../machines/node/node-machine.ts';
import type { RuntimeHealth } from '../../machines/node-object/ready-message.ts';
import { lookEach } from '../host/time/clock.ts';
import type { Clock, Timer } from '../host/time/clock.ts';
import { SingleMachine } from '../record/host/single-machine.ts';
import type { JournalSettings } from '../record/journal/machine-journal.ts';
import type { NodeSnapshot } from '../record/machines/node.ts';
import { node } from '../record/machines/node.ts';

/** What the host of the node machine is made from. */
export interface NodeStateOptions {
  nodeName: string;
  agent: string;
  cluster: boolean;
  log: Logger;
  clock: Clock;
  /** What is so now; asked again and again once {@link NodeState.watch} was called. */
  facts: () => NodeFacts;
  carryOut: (order: NodeOrder) => void;
  /** Where messages are journaled; absent with `--no-journal`. */
  journal?: JournalSettings;
}

/** What the node machine follows. */
export interface NodeFacts {
  runtime: RuntimeHealth;
  /** Why PLEG is not healthy, null when it is. */
  plegError: string | null;
  sourcesReady: boolean;
  /** The API server has the node's object. */
  registered: boolean;
}

/** Time between two looks at the facts that nobody tells, ms. */
const PERIOD_MS = 1_000;

/** Hosts the node machine: tells it what has changed, journals that, and carries out what it decides. */
export class NodeState {
  private readonly options: NodeStateOptions;
  private readonly machine: SingleMachine<NodeSnapshot, NodeMessage, NodeOrder>;
  private timer: Timer | undefined;

  constructor(options: NodeStateOptions) {
    this.options = options;
    const { nodeName, agent, cluster, clock, journal = null } = options;
    const born = bornSnapshot(nodeMachine, undefined) as NodeSnapshot;
    this.machine = new SingleMachine(node, born, journal, { nodeName });
    this.take({ type: 'node.start', at: clock.now(), nodeName, agent, cluster });
  }

  get context(): NodeContext {
    return this.machine.state.context;
  }

  /** Dotted path, e.g. `ready.running`. */
  get state(): string {
    return statePath(this.machine.state.value);
  }

  /** The runtime's state changed. */
  runtimeChanged(): void {
    this.tellRuntime(this.options.facts());
  }

  /** From now on all facts are followed; the first look is taken at once. */
  watch(): void {
    this.look();
    this.timer = lookEach(this.options.clock, PERIOD_MS, () => this.look());
  }

  /** Tells what differs from what the machine knows. */
  look(): void {
    const facts = this.options.facts();
    const at = this.options.clock.now();
    this.tellRuntime(facts);
    const { pleg, sourcesReady, registered } = this.context;
    // The words of an unhealthy PLEG count seconds; the first ones stay.
    if (pleg === null || (pleg === '') !== (facts.plegError === null))
      this.take({ type: 'pleg.state', at, problem: facts.plegError });
    if (facts.sourcesReady && !sourcesReady) this.take({ type: 'sources.ready', at });
    if (facts.registered && !registered) this.take({ type: 'node.registered', at });
  }

  /** The agent ends: the last word of this log. */
  stop(): void {
    this.timer?.cancel();
    this.take({ type: 'node.stop', at: this.options.clock.now() });
    this.close();
  }

  /** Closes the journal without a word, as a death does. */
  close(): void {
    this.machine.close();
  }

  private tellRuntime({ runtime }: NodeFacts): void {
    const known = this.context.runtime;
    const { runtimeReady, networkReady, messages, quiet } = runtime;
    const same =
      known !== null &&
      known.runtimeReady === runtimeReady &&
      known.networkReady === networkReady &&
      known.quiet === quiet &&
      known.messages.join('\n') === messages.join('\n');
    if (!same)
      this.take({
        type: 'runtime.state',
        at: this.options.clock.now(),
        runtimeReady,
        networkReady,
        messages: [...messages],
        ...(quiet === true && { quiet }),
      });
  }

  private take(message: NodeMessage): void {
    const before = this.state;
    let orders: NodeOrder[];
    try {
      orders = this.machine.take(message);
    } catch (error) {
      // The journal has it; the node keeps its state, and the next message is tried anew.
      const problem = error instanceof Error ? error.message : String(error);
      this.options.log.error(
        { err: new ActorletError(nodeErrors.nodeStepFailed, { problem }) },
        'The node machine failed',
      );
      return;
    }
    const { state } = this;
    if (state !== before)
      this.options.log.info({ state, from: before, reasons: this.context.reasons }, 'Node state changed');
    const { log, carryOut } = this.options;
    for (const order of orders) this.machine.carriedOut(order, log, carryOut);
  }
}
