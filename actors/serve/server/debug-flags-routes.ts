import type { FastifyInstance } from 'fastify';
import { httpError } from './go-answers.ts';

/** Highest number klog takes (32 bits). */
const MAX_LEVEL = 2 ** 32 - 1;

/** Adds `/debug/flags/v`: `PUT` sets the verbosity of the log while the agent runs; switched off it says so. */
export function addDebugFlagsRoutes(
  app: FastifyInstance,
  enabled: boolean,
  setVerbosity: (level: number) => void,
): void {
  app.all('/debug/flags/v', (request, reply) => {
    if (!enabled) return httpError(reply, 405, 'flags endpoint is disabled.');
    const answer = (status: number, text: string) =>
      reply
        .code(status)
        .header('x-content-type-options', 'nosniff')
        .header('content-type', 'text/plain')
        .send(`${text}\n`);
    if (request.method !== 'PUT') return answer(406, 'unsupported http method');
    const text = typeof request.body === 'string' ? request.body : '';
    if (!/^\d+$/.test(text)) return answer(400, `strconv.ParseUint: parsing ${JSON.stringify(text)}: invalid syntax`);
    const level = Number(text);
    if (level > MAX_LEVEL) return answer(400, `strconv.ParseUint: parsing ${JSON.stringify(text)}: value out of range`);
    setVerbosity(level);
    return answer(200, `successfully set klog.logging.verbosity to ${text}`);
  });
}
