import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerError, answerJson, answerJsonBody } from './answer-json.ts';
import { explainStep } from './explain-step.ts';
import type { Inspector } from './inspector.ts';
import type { NodeAnswer } from './inspector-api.ts';
import { visibleSteps } from './pod-entry.ts';
import { MAX_STEPS } from './step-reader.ts';

/** What the API answers from. */
export interface ApiRoutesOptions {
  inspector: Inspector;
  /** Reads what the agent has written meanwhile. */
  fresh: () => Promise<void>;
}

const NO_POD = 'there is no such pod in the journal';
const NO_STEP = 'there is no such step in the journal (any more)';

/** The page's API, as {@link About} and its neighbours describe it. */
export function addApiRoutes(app: FastifyInstance, { inspector, fresh }: ApiRoutesOptions): void {
  let list: { version: number; body: Buffer } | undefined;

  app.get('/api/about', async (request, reply) => {
    await fresh();
    return answerJson(request, reply, inspector.about());
  });
  app.get('/api/charts', (request, reply) => answerJson(request, reply, inspector.charts()));
  app.get('/api/pods', async (request, reply) => {
    await fresh();
    const { version } = inspector.index;
    if (list?.version !== version) list = { version, body: Buffer.from(JSON.stringify(inspector.pods())) };
    return answerJsonBody(request, reply, list.body);
  });
  app.get('/api/node', async (request, reply) => {
    await fresh();
    return answerJson(request, reply, { node: inspector.node() } satisfies NodeAnswer);
  });
  app.get('/api/machines', async (request, reply) => {
    await fresh();
    return answerJson(request, reply, inspector.machines());
  });
  app.get('/api/overview', async (request, reply) => {
    await fresh();
    const { at: text } = request.query as { at?: string };
    const at = wholeNumber(text, -1);
    if (at === null) return answerError(reply, 400, 'at is a moment in ms since the epoch');
    return answerJson(request, reply, await inspector.overview(text === undefined ? null : at));
  });
  app.get('/api/pods/:uid/steps', async (request, reply) => {
    await fresh();
    const { from, limit } = request.query as { from?: string; limit?: string };
    const first = wholeNumber(from, 0);
    const count = wholeNumber(limit, MAX_STEPS);
    if (first === null || count === null || count > MAX_STEPS || count === 0)
      return answerError(reply, 400, `from and limit are whole numbers, limit from 1 to ${String(MAX_STEPS)}`);
    const page = inspector.steps(uidOf(request), first, count);
    return page === null ? answerError(reply, 404, NO_POD) : answerJson(request, reply, page);
  });
  app.get('/api/pods/:uid/steps/:index', async (request, reply) => {
    await fresh();
    const index = wholeNumber((request.params as { index: string }).index, 0);
    if (index === null) return answerError(reply, 400, 'the number of a step is a whole number');
    const detail = await inspector.step(uidOf(request), index);
    return detail === null ? notFound(inspector, request, reply) : answerJson(request, reply, detail);
  });
  app.get('/api/pods/:uid/explain', async (request, reply) => {
    await fresh();
    const entry = inspector.entry(uidOf(request));
    if (entry === undefined) return answerError(reply, 404, NO_POD);
    const index = wholeNumber((request.query as { index?: string }).index, Math.max(0, visibleSteps(entry) - 1));
    if (index === null) return answerError(reply, 400, 'index is a whole number');
    const explanation = await explainStep(inspector, entry, index);
    return explanation === null ? answerError(reply, 404, NO_STEP) : answerJson(request, reply, explanation);
  });
}

function notFound(inspector: Inspector, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  return answerError(reply, 404, inspector.entry(uidOf(request)) === undefined ? NO_POD : NO_STEP);
}

function uidOf(request: FastifyRequest): string {
  return (request.params as { uid: string }).uid;
}

/** Null when it is none. */
function wholeNumber(text: string | undefined, preset: number): number | null {
  if (text === undefined) return preset;
  return /^\d{1,15}$/.test(text) ? Number(text) : null;
}
