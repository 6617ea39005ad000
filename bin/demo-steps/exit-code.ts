import { messageOf } from '../../machines/values/message-of.ts';
import { Interrupted } from './wait-until.ts';

/** Says how a demo ended, and what it exits with: 0 all well, 1 something failed, 130 ended by Ctrl-C before all was there. */
export async function exitCodeOf(
  running: Promise<void>,
  how: { check: boolean; say: (line: string) => void; complain: (line: string) => void },
): Promise<number> {
  try {
    await running;
  } catch (error) {
    if (error instanceof Interrupted) return 130;
    how.complain(messageOf(error));
    return 1;
  }
  if (how.check) how.say('check passed');
  return 0;
}
