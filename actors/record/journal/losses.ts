/** What the logs of this thread have lost since it began: lines that no disk took, and how often a disk did not answer. */
export const losses = { lines: 0, stalls: 0 };

/** Counts lines that are in no log. */
export function lost(text: string): void {
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) losses.lines++;
}

/** Calls `tell` with what came on top since the last call. */
export function lossCounter(): (tell: (lines: number, stalls: number) => void) => void {
  const told = { ...losses };
  return (tell) => {
    const [lines, stalls] = [losses.lines - told.lines, losses.stalls - told.stalls];
    Object.assign(told, losses);
    if (lines > 0 || stalls > 0) tell(lines, stalls);
  };
}
