import type { FastifyInstance } from 'fastify';
import { httpError } from './go-answers.ts';

/** Paths of the pages that `enableDebuggingHandlers: false` takes away. */
const DEBUGGING = [
  '/run',
  '/exec',
  '/attach',
  '/portForward',
  '/containerLogs',
  '/runningpods',
  '/debug/pprof',
  '/logs',
];

/** Adds what kubelet answers where pages are switched off: 405 for every method and path below. */
export function addDisabledRoutes(app: FastifyInstance, path: string, text: string): void {
  app.all(`${path}/*`, (_request, reply) => httpError(reply, 405, text));
}

/** With `enableDebuggingHandlers: false`: a page says why there is no exec, no logs ... */
export function addDebuggingDisabledRoutes(app: FastifyInstance): void {
  for (const path of DEBUGGING) addDisabledRoutes(app, path, 'Debug endpoints are disabled.');
}
