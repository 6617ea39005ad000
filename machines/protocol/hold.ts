/** A pod is not judged yet: it waits for a device plugin that was there under an earlier agent, or lately. */
export interface Hold {
  /** What it waits for, in words. */
  message: string;
  /** Until when, ms since the epoch; then it is judged as it is. */
  until: number;
}
