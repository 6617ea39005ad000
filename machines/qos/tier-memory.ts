/** Bytes that all burstable pods may have together, and all best-effort ones; 0: no limit is set. */
export interface TierMemory {
  burstable: number;
  bestEffort: number;
}

/**
 * Limits that keep what pods of a better class ask for from those of a worse one (kubelet's setMemoryReserve).
 *
 * @param unreserved bytes of the machine that are not reserved for the system and for Kubernetes
 * @param requests bytes that pods ask for: all of them, and burstable ones of them
 * @param percent how much of what they ask for is kept, 0 to 100
 */
export function tierMemory(
  unreserved: number,
  requests: { all: number; burstable: number },
  percent: number,
): TierMemory {
  const burstable = unreserved - Math.floor(((requests.all - requests.burstable) * percent) / 100);
  const bestEffort = burstable - Math.floor((requests.burstable * percent) / 100);
  return { burstable: Math.max(burstable, 0), bestEffort: Math.max(bestEffort, 0) };
}

/** The percentage of `qosReserved.memory`; null when it is none. */
export function percentOf(text: string): number | null {
  const match = /^[+-]?(\d{1,15})(%{1,64})$/.exec(text);
  const value = Number(match?.[1]);
  if (match === null || value > 100 || (text.startsWith('-') && value !== 0)) return null;
  return value;
}
