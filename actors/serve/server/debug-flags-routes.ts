import type { FastifyInstance } from 'fastify';
import { goQuote } from '../../../machines/values/go-quote.ts';
import { httpError } from './go-answers.ts';

/** Highest number that is read (32 bits), and highest level that klog has. */
const MOST_READ = 2 ** 32 - 1;
const MAX_LEVEL = 2 ** 31 - 1;

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
    if (!/^\d+$/.test(text)) return answer(400, `strconv.ParseUint: parsing ${goQuote(text)}: invalid syntax`);
    const level = Number(text);
    const tooHigh = `parsing ${goQuote(text)}: value out of range`;
    if (level > MOST_READ) return answer(400, `strconv.ParseUint: ${tooHigh}`);
    if (level > MAX_LEVEL)
      return answer(400, `failed set klog.logging.verbosity ${text}: strconv.ParseInt: ${tooHigh}`);
    setVerbosity(level);
    return answer(200, `successfully set klog.logging.verbosity to ${text}`);
  });
}
