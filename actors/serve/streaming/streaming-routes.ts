import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { messageOf } from '../../../machines/values/message-of.ts';
import type { NodeView } from '../../pods/store/node-view.ts';
import { acceptable } from '../server/acceptable.ts';
import { upgradeOf } from '../server/upgrade.ts';
import { firstValue, parseGoQuery } from '../server/go-query.ts';
import { ownBridges } from './bridges.ts';
import type { StreamBridges } from './bridges.ts';
import { OpenStreams } from './open-streams.ts';
import { answered, sendProxyError, sendRefusal, Refusal } from './refusal.ts';
import { serveStream } from './serve-stream.ts';
import { attachRequest, execRequest, podOf, portForwardRequest, runningContainer } from './stream-requests.ts';
import type { StreamParams, StreamRequest, StreamRuntime } from './stream-requests.ts';
import { hasBody } from './target-request.ts';

/** Options of {@link addStreamingRoutes}. */
export interface StreamingRoutesOptions {
  node: Pick<NodeView, 'podNamed'>;
  cri: StreamRuntime;
  config: {
    /** ms; 0 = streams may be silent for ever. */
    streamingConnectionIdleTimeout: number;
  };
  log: Logger;
  /** Certificates that vouch for a runtime's `https` streaming server; the system's when absent. */
  ca?: readonly string[];
  /** Others in tests. */
  bridges?: StreamBridges;
}

/** The streams of a server. */
export interface StreamingRoutes {
  /** How many streams (and commands of `/run`) are open now. */
  readonly open: number;
  /** Ends them all; closing the server does it, too. */
  stop(): Promise<void>;
}

const container = '/:podNamespace/:podID/:containerName';
const containerOfUid = '/:podNamespace/:podID/:uid/:containerName';

/** What each family serves: GET is what WebSocket clients use, POST what SPDY clients use. */
const families: readonly { paths: readonly string[]; ask: StreamRequest }[] = [
  { paths: [`/exec${container}`, `/exec${containerOfUid}`], ask: execRequest },
  { paths: [`/attach${container}`, `/attach${containerOfUid}`], ask: attachRequest },
  {
    paths: ['/portForward/:podNamespace/:podID', '/portForward/:podNamespace/:podID/:uid'],
    ask: portForwardRequest,
  },
];

/** Adds `/exec`, `/attach`, `/portForward` and `/run`, which answer as kubelet's `getExec`, `getAttach` ... do. */
export function addStreamingRoutes(app: FastifyInstance, options: StreamingRoutesOptions): StreamingRoutes {
  const { log, ca, config } = options;
  const sources = { node: options.node, cri: options.cri, bridges: options.bridges ?? ownBridges };
  const streams = new OpenStreams(config.streamingConnectionIdleTimeout);

  const stream = async (request: FastifyRequest, reply: FastifyReply, ask: StreamRequest): Promise<FastifyReply> => {
    const upgrade = upgradeOf(request.raw);
    const params = request.params as StreamParams;
    if (upgrade === undefined) {
      // Kubelet asks the runtime first, too, so that a wrong name is told before a wrong kind of request.
      try {
        await ask(sources, request, params, undefined);
      } catch (error) {
        return sendRefusal(reply, error);
      }
      return sendProxyError(reply, 'Upgrade request required');
    }
    if (hasBody(request.raw)) return sendRefusal(reply, new Refusal(400, 'an upgrade request cannot have a body'));
    await streams.run(upgrade.socket, async (signals) => {
      let plan;
      try {
        plan = await ask(sources, request, params, signals.signal);
      } catch (error) {
        if (upgrade.socket.destroyed) reply.hijack();
        else {
          void sendRefusal(reply, error);
          await answered(reply);
        }
        return;
      }
      await serveStream(request, reply, plan, { upgrade, ...signals, log, ca });
    });
    return reply;
  };

  const run = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const params = request.params as StreamParams;
    await streams.runQuiet(request.raw.socket, async ({ signal }) => {
      try {
        podOf(sources, params);
        const cmd = firstValue(parseGoQuery(request.url), 'cmd').split(' ');
        const output = await runInContainer(sources.cri, params, cmd, signal);
        if (output.length > 0) reply.type('application/json');
        void reply.code(200).send(output.length > 0 ? output : undefined);
      } catch (error) {
        void sendRefusal(reply, error);
      }
      await answered(reply);
    });
    return reply;
  };

  app.addHook('preClose', () => streams.stop());
  void app.register((scope, _options, done) => {
    // A body means nothing here: it stays unread, whatever its type.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, parsed) => {
      parsed(null);
    });
    for (const { paths, ask } of families) {
      for (const url of paths) {
        const handler = (request: FastifyRequest, reply: FastifyReply) => stream(request, reply, ask);
        scope.route({ method: ['GET', 'POST'], url, exposeHeadRoute: false, handler, ...acceptable() });
      }
    }
    for (const url of [`/run${container}`, `/run${containerOfUid}`]) scope.post(url, acceptable(), run);
    done();
  });

  return {
    get open() {
      return streams.size;
    },
    stop: () => streams.stop(),
  };
}

/**
 * `/run`: runs a command to its end, without limit of time, and resolves to its stdout followed by its stderr.
 * @throws Refusal 500 for a command that fails and for every trouble of the runtime, as kubelet answers
 */
async function runInContainer(
  cri: StreamRuntime,
  params: StreamParams,
  cmd: readonly string[],
  signal: AbortSignal,
): Promise<Buffer> {
  try {
    const containerId = await runningContainer(cri, params, signal);
    const result = await cri.runtime.execSync({ containerId, cmd: [...cmd], timeout: '0' }, { signal });
    if (result.exitCode === 0) return Buffer.concat([result.stdout, result.stderr]);
    const code = String(result.exitCode);
    throw new Refusal(500, `command '${cmd.join(' ')}' exited with ${code}: ${result.stderr.toString()}`);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new Refusal(500, messageOf(error), { cause: error });
  }
}
