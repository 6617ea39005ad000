import { isTerminalPhase } from '../../../machines/status/phase.ts';
import { uidEntries } from '../../../machines/supervisor/uid-table.ts';
import type { UidTable } from '../../../machines/supervisor/uid-table.ts';
import type { World } from '../world/world.ts';
import type { Say } from './rule.ts';

/** Who has ended has nothing alone any more. @param grants what pods have, of `what` */
export function grantsReturned(
  agent: NonNullable<World['agent']>,
  grants: UidTable<unknown>,
  what: string,
  say: Say,
): void {
  for (const [uid] of uidEntries(grants)) {
    const phase = agent.store.list().find(({ metadata }) => metadata?.uid === uid)?.status?.phase;
    const lives = phase === undefined ? agent.tracks(uid) : !isTerminalPhase(phase);
    if (!lives) say(`${uid} is ${phase ?? 'gone'}, and still has ${what}`);
  }
}
