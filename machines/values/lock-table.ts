/** A lock as the kernel's table tells it: who took it, and of which file. */
export interface KnownLock {
  /** Process id of the one that called flock. */
  holder: number;
  /** Number of the file in its file system. */
  inode: string;
}

/**
 * Does anybody wait for this lock? `/proc/locks` has a line for each lock, `7: FLOCK  ADVISORY  WRITE 4711 fe:00:1234 0 EOF`, and below
 * it one for each who waits, `7: -> FLOCK ...`.
 */
export function waitsForLock(table: string, { holder, inode }: KnownLock): boolean {
  const lines = table.split('\n').map((line) => line.split(' ').filter((word) => word !== ''));
  const own = lines.find(
    ([, kind, , , pid, file = '']) => kind === 'FLOCK' && pid === String(holder) && file.endsWith(`:${inode}`),
  );
  return own !== undefined && lines.some(([id, arrow]) => id === own[0] && arrow === '->');
}
