import type { Logger } from 'pino';
import type { Node, NodeEvent, NodeObjectConfig } from '../../../machines/node-object/node-types.ts';
import { ApiStatusError, isAlreadyExists } from '../api/api-client.ts';
import type { KnownNode } from './known-node.ts';
import { patchNode, Registration } from './node-registration.ts';
import type { AdoptedNode, NodeCalls } from './node-registration.ts';
import type { TakeObject } from './node-object-options.ts';

/** What registering needs of the node object. */
export interface RegisteringOptions {
  readonly calls: NodeCalls;
  readonly config: NodeObjectConfig;
  readonly known: KnownNode;
  readonly log: Logger;
  readonly take: TakeObject;
  /** ms since the epoch. */
  readonly now: () => number;
  /** In [0, 1). */
  readonly random: () => number;
  readonly startup: { attempted(): void } | undefined;
}

/** The requests of a try to register. Which of them is made when is decided by `machines/node-object/object-machine.ts`. */
export class Registering {
  private readonly options: RegisteringOptions;
  /** The try that is under way, and what came of it. */
  private trying: { registration: Registration; adopted: AdoptedNode | null; node: Node | null } | null = null;
  /** Why the last request failed. */
  problem: unknown;

  constructor(options: RegisteringOptions) {
    this.options = options;
  }

  async post(): Promise<void> {
    const { calls, config, known, now, random, startup, take } = this.options;
    await known.look();
    if (calls.signal.aborted) return;
    startup?.attempted();
    let came: 'made' | 'exists' | 'forbidden' | 'failed' = 'made';
    try {
      const registration = new Registration(calls, config, known.now(), now());
      this.trying = { registration, adopted: null, node: null };
      this.trying.node = await registration.post();
    } catch (error) {
      this.problem = error;
      came = 'failed';
      if (isAlreadyExists(error)) came = 'exists';
      else if (error instanceof ApiStatusError && error.status === 403 && config.getOnExistsOnly !== true)
        came = 'forbidden';
    }
    take({ type: 'register.posted', came, chance: random() });
  }

  async adopt(forbidden: boolean): Promise<void> {
    const { config, log, random, take } = this.options;
    const { trying } = this;
    if (trying === null) return;
    if (forbidden) log.error({ err: this.problem }, 'Unable to register node with API server, reason is forbidden');
    try {
      trying.adopted = await trying.registration.adopt();
      log.info({ node: config.nodeName }, 'Node was previously registered');
      trying.node = trying.adopted.existing;
    } catch (error) {
      this.problem = error;
      return take({ type: 'register.failed' });
    }
    take({ type: 'register.found', patch: trying.adopted.found, chance: random() });
  }

  async patch(): Promise<void> {
    const { calls, config, random, take } = this.options;
    const { trying } = this;
    if (trying === null) return;
    try {
      trying.node = await patchNode(calls, config.nodeName, trying.adopted?.patch);
    } catch (error) {
      this.problem = error;
      return take({ type: 'register.failed' });
    }
    take({ type: 'register.patched', chance: random() });
  }

  /** Ends the try: the object that it brought, and the events to tell. Null when none is under way. */
  done(made: boolean): { node: Node; events: readonly NodeEvent[] } | null {
    const { trying } = this;
    this.trying = null;
    if (trying?.node == null) return null;
    this.options.log.info({ node: this.options.config.nodeName, created: made }, 'Successfully registered node');
    return { node: trying.node, events: (trying.adopted ?? trying.registration).events };
  }
}
