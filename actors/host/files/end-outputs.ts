import type { ChildProcess } from 'node:child_process';

/** Ends the wait for what a program prints: one that has ended may have left a process behind that holds its outputs open for ever. */
export function endOutputs({ stdout, stderr }: ChildProcess): void {
  stdout?.destroy();
  stderr?.destroy();
}

/** Has a signal do so: Node itself hears it only until the program has ended, and waits on for its outputs. */
export function endOutputsBy(signal: AbortSignal, child: ChildProcess): void {
  const end = (): void => endOutputs(child);
  signal.addEventListener('abort', end, { once: true });
  child.once('close', () => signal.removeEventListener('abort', end));
}
