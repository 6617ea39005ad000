import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { goJson } from './go-answers.ts';

/** What the z-pages tell (KEP-4828 flagz, KEP-4827 statusz; both alpha, behind ComponentFlagz and ComponentStatusz). */
export interface ZpagesOptions {
  /** All flags of the command line with the values in use; null = no such page. */
  flags: (() => Readonly<Record<string, string>>) | null;
  statusz: boolean;
  /** When the process began, ms since the epoch. */
  startedAt: number;
  /** How long the process runs, ms. */
  uptimeMs: () => number;
  binaryVersion: string;
}

/** Paths that kubelet lists: plain handlers only. */
const PATHS = ['/configz', '/debug', '/flagz', '/healthz', '/metrics'];

const WARNING =
  'Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only.';

/** Adds `/flagz` and `/statusz`, as text or as `config.k8s.io/v1alpha1` objects. */
export function addZpagesRoutes(app: FastifyInstance, options: ZpagesOptions): void {
  const { flags, statusz, startedAt, uptimeMs, binaryVersion } = options;
  if (flags !== null) {
    app.all('/flagz', (request, reply) => {
      const values = flags();
      const lines = Object.keys(values)
        .sort()
        .map((name) => `${name}=${values[name] ?? ''}\n`);
      return zpage(request, reply, 'Flagz', lines.join(''), { flags: values });
    });
  }
  if (statusz) {
    app.all('/statusz', (request, reply) => {
      const seconds = Math.trunc(uptimeMs() / 1000);
      const two = (n: number) => String(n).padStart(2, '0');
      const up = `${Math.trunc(seconds / 3600)} hr ${two(Math.trunc(seconds / 60) % 60)} min ${two(seconds % 60)} sec`;
      const text = [
        '',
        `Started: ${new Date(startedAt).toUTCString()}`,
        `Up: ${up}`,
        `Go version: node ${process.version}`,
        `Binary version: ${binaryVersion}`,
        '',
        `Paths: ${PATHS.join(' ')}`,
        '',
      ].join('\n');
      return zpage(request, reply, 'Statusz', text, {
        startTime: new Date(startedAt).toISOString().replace(/\.\d+Z$/, 'Z'),
        uptimeSeconds: seconds,
        goVersion: `node ${process.version}`,
        binaryVersion,
        paths: PATHS,
      });
    });
  }
}

/** Text unless the request asks for the structured form; what is neither gets 406. */
function zpage(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  kind: 'Flagz' | 'Statusz',
  text: string,
  fields: object,
): FastifyReply {
  const wanted = (headers.accept ?? '').split(',').map((part) => part.trim().toLowerCase());
  const structured = `application/json;v=v1alpha1;g=config.k8s.io;as=${kind.toLowerCase()}`;
  for (const part of wanted) {
    const media = part.replaceAll(/\s|;q=[\d.]+/g, '');
    if (media === structured)
      return goJson(reply, { kind, apiVersion: 'config.k8s.io/v1alpha1', metadata: { name: 'kubelet' }, ...fields });
    if (['', '*/*', 'text/*', 'text/plain'].includes(media.split(';', 1)[0] ?? '')) {
      const page = `\nkubelet ${kind.toLowerCase()}\n${WARNING}\n${text}`;
      return reply.type('text/plain; charset=utf-8').send(page);
    }
  }
  const message = `only the following media types are accepted: ${structured}, text/plain`;
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason: 'NotAcceptable',
    code: 406,
  };
  return goJson(reply.code(406), status);
}
