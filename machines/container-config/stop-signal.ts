import { CriSignal } from '../protocol/cri-signal.ts';

/**
 * CRI number of `lifecycle.stopSignal` (KEP-4960): `SIGUSR1`, `SIGRTMIN+3`, `SIGRTMAX-2` ...;
 * 0, the runtime's default, for a name that is none.
 */
export function stopSignalNumber(name: string): CriSignal {
  const key = name.replace('+', 'PLUS').replace('-', 'MINUS');
  return isSignal(key) ? CriSignal[key] : CriSignal.RUNTIME_DEFAULT;
}

function isSignal(key: string): key is keyof typeof CriSignal {
  return Object.hasOwn(CriSignal, key);
}
