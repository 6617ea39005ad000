import type { V1Service } from '@kubernetes/client-node';
import type { Logger } from 'pino';
import type { EnvEntry } from '../../../machines/protocol/cri-shapes.ts';
import type { Plain } from '../../../machines/protocol/api-types.ts';
import { META_SHAPE } from '../../../machines/pod-validation/pod-shape.ts';
import { fields, list, shapeProblem } from '../../../machines/pod-validation/shape.ts';
import { hasClusterIP, serviceEnv } from '../../../machines/services/service-env.ts';
import type { ServiceView } from '../../../machines/services/service-env.ts';
import type { ApiClient } from '../api/api-client.ts';
import { Reflector } from '../api/reflector.ts';
import { codedError } from './object-errors.ts';

/** What of a `v1.Service` is read. */
const SERVICE_SHAPE = fields({
  metadata: META_SHAPE,
  spec: fields({
    clusterIP: 'string',
    ports: list(fields({ name: 'string', port: 'int32', protocol: 'string' })),
  }),
});

/** Settings of {@link ServiceVariables}. */
export interface ServiceVariablesSettings {
  api: ApiClient;
  log: Logger;
  /** How long `env` waits for the first list, 5 s by default. */
  firstListTimeoutMs?: number;
}

/** What is kept of a service: its key and, if it has variables, what they are made of. */
interface KeptService {
  metadata?: { name?: string; namespace?: string; uid?: string; resourceVersion?: string };
  view?: ServiceView | null;
}

/** The services of the cluster, as far as containers get variables of them. */
export class ServiceVariables {
  private readonly reflector: Reflector<KeptService>;
  private readonly firstListTimeoutMs: number;
  /** Made variables by namespace and `enableServiceLinks`, until a service changes. */
  private readonly made = new Map<string, EnvEntry[]>();

  constructor({ api, log, firstListTimeoutMs = 5000 }: ServiceVariablesSettings) {
    this.firstListTimeoutMs = firstListTimeoutMs;
    const changed = () => {
      this.made.clear();
    };
    this.reflector = new Reflector<KeptService>({
      api,
      on: { group: '', version: 'v1', resource: 'services' },
      log,
      refuse: (service) => shapeProblem(service, SERVICE_SHAPE),
      transform: shrink,
      onSync: changed,
      onEvent: changed,
    });
  }

  /** Begins to list and watch. */
  start(): void {
    this.reflector.start();
  }

  stop(): void {
    this.reflector.stop();
    this.made.clear();
  }

  /**
   * Variables of the services that a pod of this namespace sees. Rejects with code `NotSynced`, in kubelet's words,
   * when the services could not be listed once yet.
   */
  async env(namespace: string, enableServiceLinks: boolean): Promise<EnvEntry[]> {
    if (!(await this.reflector.syncedWithin(this.firstListTimeoutMs))) {
      const text = 'services have not yet been read at least once, cannot construct envvars';
      throw codedError('NotSynced', text, this.reflector.lastError);
    }
    return this.known(namespace, enableServiceLinks);
  }

  /** The same of the services that are known by now, none before the first list: a static pod waits for no API server. */
  known(namespace: string, enableServiceLinks: boolean): EnvEntry[] {
    if (!this.reflector.synced) return [];
    const key = `${namespace}/${enableServiceLinks}`;
    let envs = this.made.get(key);
    if (envs === undefined) {
      envs = serviceEnv(this.views(), namespace, enableServiceLinks);
      this.made.set(key, envs);
    }
    return envs;
  }

  private *views(): Iterable<ServiceView> {
    for (const { view } of this.reflector.list()) if (view != null) yield view;
  }
}

function shrink(object: KeptService): KeptService {
  const { metadata, spec } = object as Plain<V1Service>;
  const { name = '', namespace = '', uid, resourceVersion } = metadata ?? {};
  const view: ServiceView = {
    namespace,
    name,
    clusterIP: spec?.clusterIP ?? '',
    ports: (spec?.ports ?? []).map((port) => ({
      name: port.name ?? '',
      port: port.port,
      protocol: port.protocol ?? 'TCP',
    })),
  };
  const kept = { name, namespace, ...(uid !== undefined && { uid }), ...(resourceVersion && { resourceVersion }) };
  return { metadata: kept, view: hasClusterIP(view) ? view : null };
}
