import type { onRequestAsyncHookHandler } from 'fastify';
import { restfulError } from './go-answers.ts';

/**
 * A hook of routes that kubelet has in web services: who does not take what the route makes is told so, after the locks and before anything is
 * done. Where go-restful knows of no kind that a route makes, only those who take everything reach it.
 */
export function acceptable(...produces: string[]): { onRequest: onRequestAsyncHookHandler } {
  const refusal = `406: Not Acceptable\n\nAvailable representations: ${produces.join(', ')}`;
  return {
    onRequest: async ({ headers: { accept = '' } }, reply) =>
      takesOneOf(accept, produces) ? undefined : restfulError(reply, 406, refusal),
  };
}

/** As go-restful reads `Accept`: whole names only, so that an `application/*` takes nothing, and without a look at their weights. */
export function takesOneOf(accept: string, produces: readonly string[]): boolean {
  if (accept === '') return true;
  return accept.split(',').some((entry) => {
    const name = entry.split(';', 1)[0]?.trim() ?? '';
    return name === '*/*' || produces.includes(name);
  });
}
