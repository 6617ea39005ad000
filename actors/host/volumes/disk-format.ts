/**
 * What `blkid -p -s TYPE -s PTTYPE -o export` says of a disk: its file system's type, '' when it has none. A disk with partitions is none that may be
 * formatted, and has kubelet's words for that. Null: that is no answer of blkid's.
 */
export function diskFormatOf(output: string): string | null {
  let type = '';
  let partitions = '';
  for (const line of output.split('\n')) {
    if (line === '') continue;
    const [name, value, ...more] = line.split('=');
    if (name === undefined || value === undefined || more.length > 0) return null;
    if (name === 'TYPE') type = value;
    else if (name === 'PTTYPE') partitions = value;
  }
  return partitions === '' ? type : 'unknown data, probably partitions';
}
