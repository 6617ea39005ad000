/**
 * What `actorlet replay` says is wrong with a journal, but for segments that are missing: an agent leaves such a hole when its disk, on a busy
 * machine, was given up for a moment and it was killed before it could say so.
 */
export function damagesBesideHoles(stderr: string): string[] {
  const hole = /^JRN006: .* goes on here with segment \d+; 1 before it are missing/;
  return stderr.split('\n').filter((line) => /^[A-Z]+\d+:/.test(line) && !hole.test(line));
}
