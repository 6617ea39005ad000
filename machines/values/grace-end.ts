/** When a grace period is over, ms since the epoch. */
export function graceEnd({ since, graceSeconds }: { since: number; graceSeconds: number }): number {
  return since + graceSeconds * 1000;
}
