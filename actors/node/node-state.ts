import type { Logger } from 'pino';
import { bornSnapshot, statePath } from '../../machines/machine-step/step.ts';
import type { NodeContext, NodeMessage, NodeOrder } from '../../machines/node/node-context.ts';
import { nodeMachine } from '../../machines/node/node-machine.ts';
import type { RuntimeHealth } from '../../machines/node-object/ready-message.ts';
import { lookEach } from '../host/time/clock.ts';
import type { Clock, Timer } from '../host/time/clock.ts';
import { NodeJournal } from '../record/journal/node-journal.ts';
import type { NodeJournalSettings } from '../record/journal/node-journal.ts';
import type { NodeSnapshot } from '../record/journal/node-replay.ts';
import { stepNode } from '../record/journal/node-replay.ts';

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
  journal?: NodeJournalSettings;
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
  private readonly journal: NodeJournal | null;
  private snapshot: NodeSnapshot;
  private timer: Timer | undefined;

  constructor(options: NodeStateOptions) {
    this.options = options;
    this.snapshot = bornSnapshot(nodeMachine, undefined) as NodeSnapshot;
    const place = () => ({ value: this.snapshot.value as unknown, context: this.context });
    this.journal = options.journal === undefined ? null : new NodeJournal(options.journal, place);
    const { nodeName, agent, cluster, clock } = options;
    this.take({ type: 'node.start', at: clock.now(), nodeName, agent, cluster });
  }

  get context(): NodeContext {
    return this.snapshot.context;
  }

  /** Dotted path, e.g. `ready.running`. */
  get state(): string {
    return statePath(this.snapshot.value);
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
    this.journal?.close();
  }

  private tellRuntime({ runtime }: NodeFacts): void {
    const known = this.context.runtime;
    const { runtimeReady, networkReady, messages } = runtime;
    const same =
      known !== null &&
      known.runtimeReady === runtimeReady &&
      known.networkReady === networkReady &&
      known.messages.join('\n') === messages.join('\n');
    if (!same)
      this.take({
        type: 'runtime.state',
        at: this.options.clock.now(),
        runtimeReady,
        networkReady,
        messages: [...messages],
      });
  }

  private take(message: NodeMessage): void {
    const before = this.state;
    const n = this.journal?.message(message) ?? 0;
    let orders: NodeOrder[];
    try {
      const stepped = stepNode(this.snapshot, message);
      this.snapshot = stepped.snapshot;
      orders = stepped.orders;
    } catch (error) {
      this.journal?.fault(n, error instanceof Error ? (error.stack ?? error.message) : String(error));
      throw error;
    }
    const { state } = this;
    this.journal?.step(n, state, orders);
    if (state !== before)
      this.options.log.info({ state, from: before, reasons: this.context.reasons }, 'Node state changed');
    for (const order of orders) this.options.carryOut(order);
  }
}
