import type { Logger } from 'pino';

/** When a change that takes long is told of first, and how often after that, ms: kubelet's. */
const FIRST_MS = 30_000;
const NEXT_MS = 60_000;

const ADVICE =
  'consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods';

/** Who hears of a volume that is given to a group. */
export interface OwnershipWatch {
  /** Whose volume it is: its path is told from there on. */
  podUid: string;
  /** It takes long; told again and again. When absent, it is only logged. */
  slow?: (text: string) => void;
  over?: (seconds: number, failed: boolean) => void;
}

/** For kinds whose pods are not told that it takes long (kubelet tells of CSI and local volumes). */
export function quietly({ slow: _slow, ...watch }: OwnershipWatch): OwnershipWatch {
  return watch;
}

/** Gives a volume to a group by `change`, which tells of each file, and says how that goes (kubelet: VolumeOwnership). */
export async function watched(
  dir: string,
  watch: OwnershipWatch,
  log: Logger,
  change: (passed: () => void) => Promise<void>,
): Promise<void> {
  const began = performance.now();
  let files = 0;
  let failed = true;
  const shown = dir.slice(Math.max(0, dir.indexOf(watch.podUid)));
  const about = `Setting volume ownership for ${shown}`;
  const tell = (text: string): void => {
    log.warn({ dir, files }, text);
    watch.slow?.(text);
    timer = setTimeout(() => tell(`${about}, processed ${files} files.`), NEXT_MS).unref();
  };
  let timer = setTimeout(() => tell(`${about} is taking longer than expected, ${ADVICE}`), FIRST_MS).unref();
  try {
    await change(() => (files += 1));
    failed = false;
  } finally {
    clearTimeout(timer);
    watch.over?.((performance.now() - began) / 1000, failed);
  }
}
