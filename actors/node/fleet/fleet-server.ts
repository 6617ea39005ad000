import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { CriClient } from '../../../cri/client/cri-client.ts';
import { CriError } from '../../../cri/client/cri-error.ts';
import type { ApiClient } from '../../cluster/api/api-client.ts';
import type { CommonGround } from './simulated-ground.ts';
import { addContainerLogsRoutes } from '../../serve/container-logs/container-logs-routes.ts';
import { createServerAuth } from '../../serve/server/auth-hook.ts';
import { log as logCheck } from '../../serve/server/health-checks.ts';
import { addHealthzRoutes } from '../../serve/server/healthz-routes.ts';
import { HealthSlis } from '../../serve/server/health-slis.ts';
import type { RunningServer } from '../../serve/server/http-listener.ts';
import { startKubeletServer } from '../../serve/server/kubelet-server.ts';
import { addMetricsRoutes } from '../../serve/server/metrics-routes.ts';
import { addPodRoutes } from '../../serve/server/pod-routes.ts';
import { kubeletPatterns } from '../../serve/server/serve-mux.ts';
import { addStatsRoutes } from '../../serve/server/stats-routes.ts';
import { addStreamingRoutes } from '../../serve/streaming/streaming-routes.ts';
import { startServingTls } from '../../serve/tls/serving-tls.ts';
import type { NodeFleet } from './node-fleet.ts';
import type { SimulatedNode } from './simulated-node.ts';
import { attachContainer } from './attach-container.ts';
import { echo, serveCommand, StreamServer } from './stream-server.ts';

/** What the server is made from. */
export interface FleetServerOptions {
  fleet: NodeFleet;
  common: CommonGround;
  api: ApiClient;
  /** Each node has an address of its own, at which it is asked. */
  ownAddresses: boolean;
}

/** A pod's pages name it in their path, and a node that has it is found by that. */
const OF_POD = /^\/(?:containerLogs|exec|attach|portForward|run)\/([^/?]+)\/([^/?]+)/;

/**
 * Kubelet's API for all nodes on one port. Which node is asked is told by the address that was called, where each has its own; else by
 * the pod in the path: pages of the node itself then tell of the first node.
 */
export async function startFleetServer({
  fleet,
  common,
  api,
  ownAddresses,
}: FleetServerOptions): Promise<RunningServer> {
  const { config, featureGates, flags, log, metrics } = common;
  const asked = new AsyncLocalStorage<SimulatedNode>();
  const byAddress = new Map(ownAddresses ? fleet.nodes.map((node) => [node.address, node]) : []);
  const of = (request: FastifyRequest): SimulatedNode | undefined => {
    const node = byAddress.get((request.raw.socket.localAddress ?? '').replace('::ffff:', ''));
    if (node !== undefined) return node;
    const [, namespace, name] = OF_POD.exec(request.url) ?? [];
    if (namespace === undefined || name === undefined) return fleet.nodes[0];
    return fleet.nodes.find(({ parts }) => parts?.store.named(decodeURIComponent(namespace), decodeURIComponent(name)));
  };
  const node = {
    get nodeName(): string {
      return asked.getStore()?.name ?? '';
    },
    pods: () => asked.getStore()?.parts?.store.list() ?? [],
    podNamed: (namespace: string, name: string) => asked.getStore()?.parts?.store.named(namespace, name),
  };
  const streams = new StreamServer();
  await streams.start();
  const cri = clientOf(fleet, streams);
  const stats = {
    summary: async () => must(asked).machine.usage.summary(),
    cpuAndMemory: async () => must(asked).machine.usage.summary(),
  };
  const auth = createServerAuth({ config, featureGates, nodeName: fleet.nodes[0]?.name ?? '', api, log });
  const tls = await startServingTls({
    ...{ config, featureGates, flags, api: null, log, now: Date.now },
    nodeName: 'actorlet-nodes',
    addresses: () => [],
  });
  const addRoutes = (app: FastifyInstance): void => {
    app.addHook('onRequest', (request, _reply, done) => {
      const found = of(request);
      if (found === undefined) done();
      else asked.run(found, done);
    });
    addHealthzRoutes(app, [logCheck], log, new HealthSlis());
    addPodRoutes(app, node);
    addStatsRoutes(app, { stats, log });
    addMetricsRoutes(app, metrics, () => Promise.resolve(''));
    addContainerLogsRoutes(app, { node, cri, gates: featureGates, log, now: Date.now });
    addStreamingRoutes(app, { node, cri, config, log });
  };
  const patterns = kubeletPatterns({
    ...{ debugging: true, healthChecks: ['ping', 'log'] },
    ...{ checkpoint: false, flagz: false, statusz: false },
  });
  const server = await startKubeletServer({
    ...{ address: config.address, port: config.port, log, tls, metrics, patterns, addRoutes },
    authHook: (request, reply) => auth.hook(request, reply),
  });
  return {
    ...server,
    close: async () => {
      await server.close();
      await streams.stop();
      auth.stop();
      await tls.stop();
    },
  };
}

/** The runtimes of all nodes as one: what is asked about is looked for in all of them. */
function clientOf(fleet: NodeFleet, streams: StreamServer): CriClient {
  const machineOf = (id: string): SimulatedNode['machine'] => {
    const found = fleet.nodes.find(({ machine }) => machine.runtime.core.containers.byId.has(id));
    if (found === undefined)
      throw new CriError('ContainerStatus', 'NotFound', `container ${JSON.stringify(id)} not found`);
    return found.machine;
  };
  const runtime: Partial<CriClient['runtime']> = {
    exec: ({ containerId = '', cmd = [], stdin, stdout, stderr, tty }) => {
      const { runtime: own } = machineOf(containerId).runtime.client;
      const kinds = kindsOf({ stdin, stdout, stderr, tty });
      const run = () => own.execSync({ containerId, cmd, timeout: '0' });
      return Promise.resolve(streams.offer({ kinds, serve: (opened) => serveCommand(opened, run) }));
    },
    attach: async (request, options) => {
      const { containerId = '', tty = false } = request;
      const { runtime: own, logs } = machineOf(containerId);
      // It says whether the container runs, and takes as long as the profile says; its address is nobody's.
      await own.client.runtime.attach(request, options);
      return streams.offer({
        kinds: kindsOf(request),
        serve: (opened, closed) => attachContainer({ core: own.core, logs, containerId, tty, streams: opened, closed }),
      });
    },
    portForward: () => Promise.resolve(streams.offer({ kinds: null, serve: echo })),
    containerStatus: async (request, options) => {
      const machine = machineOf(request.containerId ?? '');
      const answer = await machine.runtime.client.runtime.containerStatus(request, options);
      // Who asks is about to read the log, and most containers have none until then.
      const path = answer.status?.logPath ?? '';
      if (path !== '') machine.logs.touch(path);
      return answer;
    },
    execSync: async (request, options) =>
      machineOf(request.containerId ?? '').runtime.client.runtime.execSync(request, options),
    listContainers: async (request) => {
      const lists = fleet.nodes.map(({ machine }) => machine.runtime.client.runtime.listContainers(request));
      return { containers: (await Promise.all(lists)).flatMap(({ containers }) => containers) };
    },
    listPodSandbox: async (request) => {
      const lists = fleet.nodes.map(({ machine }) => machine.runtime.client.runtime.listPodSandbox(request));
      return { items: (await Promise.all(lists)).flatMap(({ items }) => items) };
    },
  };
  return { runtime } as unknown as CriClient;
}

/** The streams that a client opens for a command or to attach. */
function kindsOf({
  stdin,
  stdout,
  stderr,
  tty,
}: Partial<Record<'stdin' | 'stdout' | 'stderr' | 'tty', boolean>>): string[] {
  const asked = { error: true, stdin, stdout, stderr: stderr === true && tty !== true, resize: tty };
  return Object.entries(asked).flatMap(([kind, wanted]) => (wanted === true ? [kind] : []));
}

function must(asked: AsyncLocalStorage<SimulatedNode>): SimulatedNode {
  const node = asked.getStore();
  if (node === undefined) throw new Error('no simulated node of this process has this address or this pod');
  return node;
}
