import type { Logger } from 'pino';

/**
 * Calls each of these, whoever of them throws: one that fails is told in the log by its name, and the others hear all the same.
 *
 * @param what what they are told, for people
 * @param hearers by their names
 */
export function tellEach(
  log: Pick<Logger, 'error'>,
  what: string,
  hearers: Readonly<Record<string, (() => void) | undefined>>,
): void {
  for (const [hearer, tell] of Object.entries(hearers)) {
    try {
      tell?.();
    } catch (err) {
      log.error({ err, hearer, what }, 'Somebody who was told something failed at it');
    }
  }
}
