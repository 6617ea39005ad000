/**
 * Processors as the kernel lists them (`0-3,8`) as systemd takes them: a bit for each, the lowest byte first.
 *
 * @throws RangeError for what is no such list, and for an empty one
 */
export function cpuSetBits(list: string): number[] {
  const bytes: number[] = [];
  for (const range of list.split(',').map((part) => part.trim())) {
    if (range === '') continue;
    const [, first, last] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
    const [from, to] = [Number(first), Number(last ?? first)];
    if (first === undefined || from > to) throw new RangeError(`invalid range: ${range}`);
    for (let cpu = from; cpu <= to; cpu++) bytes[cpu >> 3] = (bytes[cpu >> 3] ?? 0) | (1 << (cpu & 7));
  }
  if (bytes.length === 0) throw new RangeError('empty value');
  return Array.from(bytes, (byte) => byte ?? 0);
}
