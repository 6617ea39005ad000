import { Client, credentials } from '@grpc/grpc-js';
import { setTimeout as sleep } from 'node:timers/promises';

const STATUS = '/runtime.v1.RuntimeService/Status';

/**
 * True when the CRI service behind the endpoint answers `Status`. A socket that accepts is not enough: containerd
 * listens before its CRI plugin has recovered its state, and says so with an error until then.
 */
export async function criAnswers(endpoint: string, timeoutMs = 2_000): Promise<boolean> {
  const client = new Client(endpoint, credentials.createInsecure(), { 'grpc.use_local_subchannel_pool': 1 });
  try {
    return await new Promise((resolve) => {
      client.makeUnaryRequest(
        STATUS,
        (request: Buffer) => request,
        (reply: Buffer) => reply,
        Buffer.alloc(0),
        { deadline: Date.now() + timeoutMs },
        (error: unknown) => resolve(error === null),
      );
    });
  } finally {
    client.close();
  }
}

/** Asks until the CRI service answers (true), `giveUp` says so, or `timeoutMs` is over (false). */
export async function waitForCri(
  endpoint: string,
  options: { timeoutMs: number; giveUp?: () => boolean },
): Promise<boolean> {
  const until = performance.now() + options.timeoutMs;
  for (;;) {
    if (await criAnswers(endpoint)) return true;
    if (options.giveUp?.() === true || performance.now() > until) return false;
    await sleep(40);
  }
}
