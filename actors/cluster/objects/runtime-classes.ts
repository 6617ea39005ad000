import type { Logger } from 'pino';
import type { ApiClient } from '../api/api-client.ts';
import { Reflector } from '../api/reflector.ts';
import { codedError } from './object-errors.ts';

interface RuntimeClass {
  metadata?: { name?: string; namespace?: string; uid?: string; resourceVersion?: string };
  handler?: string;
}

/** How long the first list is waited for, ms. */
const FIRST_LIST_MS = 5_000;

/** The cluster's RuntimeClasses (node.k8s.io/v1, KEP-585), read once a pod names one. */
export class RuntimeClasses {
  private readonly reflector: Reflector<RuntimeClass>;

  constructor({ api, log }: { api: ApiClient; log: Logger }) {
    const on = { group: 'node.k8s.io', version: 'v1', resource: 'runtimeclasses' };
    this.reflector = new Reflector<RuntimeClass>({ api, on, log });
  }

  /** Handler of the class, null when there is none of that name; rejects when the API server cannot be asked. */
  async handler(name: string): Promise<string | null> {
    this.reflector.start();
    if (!(await this.reflector.syncedWithin(FIRST_LIST_MS)))
      throw codedError('NotSynced', 'RuntimeClasses have not been read yet', this.reflector.lastError);
    const handler: unknown = this.reflector.get('', name)?.handler;
    return typeof handler === 'string' ? handler : null;
  }

  stop(): void {
    this.reflector.stop();
  }
}
