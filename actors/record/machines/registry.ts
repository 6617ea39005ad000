import type { AnyJournaled } from './journaled-machine.ts';
import { looks } from './looks.ts';
import { node } from './node.ts';
import { pods } from './pods.ts';
import { pulls } from './pulls.ts';
import { supervisor } from './supervisor.ts';

/** All machines that a journal holds. Whoever stands here is replayed. */
export const JOURNALED: readonly AnyJournaled[] = [pods, supervisor, node, looks, pulls];
