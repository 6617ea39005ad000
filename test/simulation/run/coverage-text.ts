import type { Coverage } from './coverage.ts';
import { rareMoves } from './unreached-moves.ts';
import { possibleMoves, rulesOut } from './possible-moves.ts';

/** All innermost states of the node's machines, as `pod syncing.running`. */
export function allStates(): string[] {
  return [...possibleMoves()].flatMap(([machine, { states }]) => states.map((state) => `${machine} ${state}`));
}

/** All moves that fixed runs have to make, as `pod syncing.running -> syncing.crashLoopBackOff`: those that machines can, but for rare ones. */
export function allMoves(): string[] {
  return [...possibleMoves()].flatMap(([machine, { moves }]) =>
    moves
      .filter((move) => !rareMoves.some((row) => row.machine === machine && rulesOut(row, move)))
      .map((move) => `${machine} ${move}`),
  );
}

/** What was reached and what was not, in a few lines; in full with how often, and each transition that was not. */
export function coverageText(coverage: Coverage, full: boolean): string {
  const possible = possibleMoves();
  const lines = [...possible].map(([machine, { states, moves }]) => {
    const unseen = states.filter((state) => !coverage.states.has(`${machine} ${state}`));
    const taken = moves.filter((move) => coverage.transitions.has(`${machine} ${move}`));
    return (
      `${machine}: ${states.length - unseen.length} of ${states.length} states` +
      `${unseen.length > 0 ? ` (not ${unseen.join(', ')})` : ''}, ${taken.length} of ${moves.length} transitions`
    );
  });
  lines.push(`faults: ${[...coverage.faults.keys()].sort().join(', ') || 'none'}`);
  if (!full) return lines.join('\n');
  for (const part of [coverage.states, coverage.transitions, coverage.faults])
    for (const [name, count] of [...part].sort(([a], [b]) => (a < b ? -1 : 1))) lines.push(`  ${count}\t${name}`);
  for (const [machine, { moves }] of possible)
    for (const move of moves)
      if (!coverage.transitions.has(`${machine} ${move}`)) lines.push(`  never\t${machine} ${move}`);
  return lines.join('\n');
}
