import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { ActorletError } from '../../../machines/errors/define.ts';
import { hostErrors } from '../../../machines/errors/host-errors.ts';
import { messageOf } from '../../../machines/values/message-of.ts';

/**
 * What a node's kernel is to do (kubelet's setupKernelTunables): hand out memory without counting it, kill a process when there is none
 * left, start again 10 s after a panic and panic where it would go on damaged, and have keys for many containers.
 */
const TUNABLES: Readonly<Record<string, number>> = {
  'vm/overcommit_memory': 1,
  'vm/panic_on_oom': 0,
  'kernel/panic': 10,
  'kernel/panic_on_oops': 1,
  'kernel/keys/root_maxkeys': 1_000_000,
  'kernel/keys/root_maxbytes': 25_000_000,
};

/** What decides over them. */
export interface TunablesOptions {
  /** `protectKernelDefaults`: the administrator sets them, and a node whose kernel has others does not start. */
  protect: boolean;
  log: Logger;
  /** This process is in a user namespace that is not the machine's. */
  inUserNamespace: boolean;
  /** Gate KubeletInUserNamespace. */
  mayNotSet: boolean;
  /** This process is root. */
  root: boolean;
  /** `/proc/sys`. */
  folder?: string;
}

/**
 * Sets the kernel's tunables, or checks them.
 *
 * @throws ActorletError (HOST031) that names all which are not as they should be, or cannot be read or set. Who is not root has been told that
 * it should be; what cannot be set then is told, and no more.
 */
export function setUpKernelTunables(options: TunablesOptions): void {
  const problems = Object.entries(TUNABLES).flatMap(([name, value]) => setUp(name, value, options) ?? []);
  if (problems.length === 0) return;
  const problem = problems.length === 1 ? (problems[0] ?? '') : `[${problems.join(', ')}]`;
  throw new ActorletError(hostErrors.kernelTunables, { problem });
}

/** What is wrong with one of them; null when nothing is. */
function setUp(flag: string, expectedValue: number, options: TunablesOptions): string | null {
  const { protect, log, inUserNamespace, mayNotSet, root, folder = '/proc/sys' } = options;
  const file = join(folder, flag);
  let actualValue: number;
  try {
    actualValue = numberIn(readFileSync(file, 'utf8'));
  } catch (error) {
    return messageOf(error);
  }
  if (actualValue === expectedValue) return null;
  if (protect) return `invalid kernel flag: ${flag}, expected value: ${expectedValue}, actual value: ${actualValue}`;
  log.info({ v: 2, flag, expectedValue, actualValue }, 'Updating kernel flag');
  try {
    writeFileSync(file, String(expectedValue));
    return null;
  } catch (err) {
    if (inUserNamespace && mayNotSet) {
      log.info({ v: 2, flag, err }, 'Updating kernel flag failed (running in UserNS, ignoring)');
      return null;
    }
    if (inUserNamespace)
      log.error(
        { err, flag },
        'Updating kernel flag failed (Hint: enable KubeletInUserNamespace feature flag to ignore the error)',
      );
    else if (!root) {
      log.error({ err, flag }, 'Updating kernel flag failed');
      return null;
    }
    return messageOf(err);
  }
}

function numberIn(text: string): number {
  const trimmed = text.trim();
  if (!/^-?\d{1,15}$/.test(trimmed)) throw new Error(`${JSON.stringify(trimmed)} is no number`);
  return Number(trimmed);
}
