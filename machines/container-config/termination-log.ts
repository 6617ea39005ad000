/** Name of a termination log: one file for each attempt, so that an old message is never read again. */
export function terminationLogName(attempt: number): string {
  return attempt.toString(16).padStart(8, '0');
}
