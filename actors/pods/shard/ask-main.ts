import { threadId } from 'node:worker_threads';
import type { Ask } from '../../../machines/protocol/ask.ts';
import type { FromShard, ToShard } from './shard-protocol.ts';

/** A question of a worker; neither it nor its answer is ever journaled or logged. */
export type Question = Extract<FromShard, { t: 'ask' }>;
/** The answer to a {@link Question}. */
export type Answer = Extract<ToShard, { t: 'answer' }>;

/** A worker's side of {@link Ask}. */
export interface Asker {
  ask: Ask;
  /** Takes an answer; one to no question of this asker is dropped. */
  answered(answer: Answer): void;
}

/** Counts the questions of this thread, not of one asker: with the thread's id an `id` is never used twice. */
let asked = 0;

/**
 * Asks the main thread over the shard's port. An `id` is unique in the process: an answer that was meant for a
 * worker that died can never be taken for one of the worker in its place.
 */
export function askMain(post: (question: Question) => void): Asker {
  const waiting = new Map<string, { resolve: (result: never) => void; reject: (error: Error) => void }>();
  return {
    ask: (what, params) =>
      new Promise((resolve, reject) => {
        const id = `${threadId}/${++asked}`;
        waiting.set(id, { resolve, reject });
        post({ t: 'ask', id, what, params } as Question);
      }),
    answered: ({ id, result, error }) => {
      const asker = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) asker?.resolve(result as never);
      else asker?.reject(Object.assign(new Error(error.message), { code: error.code }));
    },
  };
}

/** Main's side of {@link askMain}: answers one question, always. Without `answers` there is no API server. */
export async function answerShard(
  answers: Ask | null,
  { id, what, params }: Question,
  post: (answer: Answer) => void,
): Promise<void> {
  if (answers === null) {
    post({ t: 'answer', id, error: { code: 'NoClient', message: 'no API server' } });
    return;
  }
  try {
    post({ t: 'answer', id, result: await answers(what, params) });
  } catch (thrown) {
    post({ t: 'answer', id, error: refusal(thrown) });
  }
}

function refusal(thrown: unknown): { code: string; message: string } {
  if (!(thrown instanceof Error)) return { code: 'Unknown', message: String(thrown) };
  const code = 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : 'Unknown';
  return { code, message: thrown.message };
}
