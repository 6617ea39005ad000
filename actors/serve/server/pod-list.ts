import type { FastifyReply } from 'fastify';
import { apiObject } from './go-answers.ts';

/** Answers with these pods as a `v1.PodList`. A list of none is `null`, as Go writes one that nothing was added to. */
export function podList(reply: FastifyReply, items: readonly object[]): FastifyReply {
  return apiObject(reply, {
    kind: 'PodList',
    apiVersion: 'v1',
    metadata: {},
    items: items.length > 0 ? items : null,
  });
}
