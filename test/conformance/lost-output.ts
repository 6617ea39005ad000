import type { ContainerdVersion } from '../../cri/private-containerd/binaries.ts';
import type { SpecResult } from './suite/spec-result.ts';

/**
 * Whether this containerd may lose what a container wrote right before its end: before 1.6.22 and 1.7.3 it closes the pipes of
 * the output when it hears of the end, read empty or not (containerd#8643, "task: don't close() io before cancel()"). No
 * agent is asked about that, and none can see or mend it; Debian 12 has 1.6.20.
 */
export function losesOutput({ major, minor, patch }: ContainerdVersion): boolean {
  return major === 1 && (minor < 7 ? minor === 6 && patch < 22 : minor === 7 && patch < 3);
}

/** The specs that failed because a container's output was not what it should be. */
export function missedOutput(results: readonly SpecResult[]): string[] {
  return results.flatMap(({ name, state, error }) =>
    state === 'failed' && /in container output/.test(error ?? '') ? [name] : [],
  );
}
