const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const open = new Set<() => Promise<void>>();
let signalled = false;

/**
 * Has `stop` called when the test is ended by a signal; all that is open is stopped, newest first, before the process
 * goes. Returns what takes it off the list again. `stop` may be called more than once.
 */
export function stopOnSignal(stop: () => Promise<void>): () => void {
  if (open.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal);
  open.add(stop);
  return () => {
    if (!open.delete(stop) || open.size > 0 || signalled) return;
    for (const signal of SIGNALS) process.removeListener(signal, onSignal);
  };
}

function onSignal(signal: NodeJS.Signals): void {
  // other harnesses send the signal again when they are done: this one is not yet
  if (signalled) return;
  signalled = true;
  // Whoever reads what this process says may have ended by the same signal; a broken pipe is an error that would end it before all is stopped.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  const all = [...open].reverse();
  void (async () => {
    for (const stop of all) await stop().catch(() => undefined);
    for (const name of SIGNALS) process.removeListener(name, onSignal);
    process.kill(process.pid, signal);
  })();
}
