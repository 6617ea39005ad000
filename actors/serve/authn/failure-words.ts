import { messageOf } from '../../../machines/values/message-of.ts';
/** How deep causes are told: client, transport, TLS or socket, system. */
const DEPTH = 5;

/**
 * What failed, for the log: the error's message and those of its causes, with their codes, as far as each says
 * something new. A review that fails is a 401 or a 500 to a client that did nothing wrong, so the log must say why.
 */
export function failureWords(error: unknown): string {
  const words: string[] = [];
  for (let next = error, depth = 0; next !== undefined && depth < DEPTH; depth++) {
    const message = messageOf(next);
    const code = next instanceof Error && 'code' in next ? ` (${String(next.code)})` : '';
    const told = words.some((one) => one.includes(message));
    if (!told || (code !== '' && !words.some((one) => one.includes(code)))) words.push(`${message}${code}`);
    next = next instanceof Error ? next.cause : undefined;
  }
  return words.join(': ');
}
