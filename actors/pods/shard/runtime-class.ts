import type { Ask } from '../../../machines/protocol/ask.ts';
import { messageOf } from '../../../machines/values/message-of.ts';

/**
 * What the runtime calls a RuntimeClass (KEP-585). Where there is no API server the name itself.
 *
 * @throws Error with kubelet's text when there is none of this name
 */
export async function handlerOf(name: string, ask: Ask | undefined): Promise<string> {
  if (ask === undefined) return name;
  let found: { handler: string } | null;
  try {
    ({ found } = await ask('runtimeClass.Get', { name }));
  } catch (error) {
    const { code } = error as Error & { code?: unknown };
    if (code === 'NoClient') return name;
    const text = messageOf(error);
    throw refusal(`failed to lookup RuntimeClass ${name}: ${text}`, error);
  }
  if (found === null) throw refusal(`runtimeclass.node.k8s.io "${name}" not found`);
  return found.handler;
}

/** What a call is made with for a pod that may have a RuntimeClass: its handler is looked up now. @throws Error as {@link handlerOf} */
export async function withHandler<T extends { runtimeHandler: string; runtimeClass?: string }>(
  { runtimeClass, ...params }: T,
  ask: Ask | undefined,
): Promise<Omit<T, 'runtimeClass'>> {
  return runtimeClass === undefined ? params : { ...params, runtimeHandler: await handlerOf(runtimeClass, ask) };
}

/** The code is spelled as an errno, so that the event shows the text alone. */
function refusal(text: string, cause?: unknown): Error {
  return Object.assign(new Error(text, { cause }), { code: 'ERUNTIMECLASS' });
}
