import type { Logger } from 'pino';
import { nodeProblem } from '../../../machines/node-object/node-shape.ts';
import type { Node } from '../../../machines/node-object/node-types.ts';
import { isNotFound } from '../api/api-client.ts';
import { Reflector } from '../api/reflector.ts';
import { isOlder } from '../api/resource-version.ts';
import { callNode, NODES } from './node-registration.ts';
import type { NodeCalls } from './node-registration.ts';

/** What the view of the own object is made from. */
export interface OwnNodeOptions {
  calls: NodeCalls;
  nodeName: string;
  log: Logger;
  /** A newer version was seen, or (null) the object is gone. */
  onChange: (node: Node | null) => void;
  /** In [0, 1), to spread pauses by; Math.random unless given. */
  random?: () => number;
}

/** The latest version of the node's own object: from the watch, or from the answer to an own call if that is newer. */
export class OwnNode {
  private readonly options: OwnNodeOptions;
  private readonly reflector: Reflector<Node>;
  node: Node | null = null;

  constructor(options: OwnNodeOptions) {
    this.options = options;
    this.reflector = new Reflector<Node>({
      api: options.calls.api,
      on: NODES,
      fieldSelector: `metadata.name=${options.nodeName}`,
      log: options.log,
      random: options.random,
      refuse: (node) => nodeProblem(node),
      onSync: ([node]) => this.listed(node),
      onEvent: ({ type, object }) => {
        if (type !== 'DELETED') this.took(object);
        else if (!isOlder(versionOf(object), versionOf(this.node))) this.gone();
      },
    });
  }

  /** Begins to watch. */
  start(): void {
    this.reflector.start();
  }

  stop(): void {
    this.reflector.stop();
  }

  /** A version of the object, from the watch or as the answer to an own call. */
  took(node: Node): void {
    if (isOlder(versionOf(node), versionOf(this.node))) return;
    const known = versionOf(node) !== '' && versionOf(node) === versionOf(this.node);
    this.node = node;
    if (known) return;
    this.options.onChange(node);
  }

  /** Asks the server for the newest version. Rejects with ApiStatusError, but for an object that is gone. */
  async read(): Promise<void> {
    try {
      this.took(await callNode(this.options.calls, { method: 'GET', name: this.options.nodeName }));
    } catch (error) {
      if (!isNotFound(error)) throw error;
      this.gone();
    }
  }

  /** A list may come from a cache that does not hold a new object yet, so that an empty one proves nothing. */
  private listed(node: Node | undefined): void {
    if (node !== undefined) this.took(node);
    else if (this.node !== null) {
      void this.read().catch((error: unknown) => this.options.log.debug({ err: error }, 'Node could not be read'));
    }
  }

  private gone(): void {
    if (this.node === null) return;
    this.node = null;
    this.options.onChange(null);
  }
}

function versionOf(node: Node | null): string {
  return node?.metadata?.resourceVersion ?? '';
}
