const NAME = 'iface.transport_name = ';

/** What `iscsiadm -m iface -o show` says of how an interface speaks to targets: `tcp` where it says nothing, '' where it has no such line. */
export function transportOf(shown: string): string {
  const lines = shown.split('\n');
  // A line is whole only when another begins behind it.
  const line = lines.slice(0, -1).find((each) => each.includes(NAME));
  if (line === undefined) return '';
  const transport = line.slice(line.indexOf(NAME) + NAME.length);
  return transport === '<empty>' ? 'tcp' : transport;
}

/**
 * The settings of an interface that a copy of it gets, those that say nothing and its name left out, in the order of the alphabet. Throws in kubelet's
 * words (parseIscsiadmShow).
 */
export function ifaceSettings(shown: string): [name: string, value: string][] {
  const settings = new Map<string, string>();
  for (const line of shown.split('\n')) {
    if (!line.startsWith('iface.') || line.includes('<empty>')) continue;
    const words = line.split(/\s/).filter((word) => word !== '');
    const [name = '', equals, value = ''] = words;
    if (words.length !== 3 || equals !== '=') throw new Error(`error: invalid iface setting: [${words.join(' ')}]`);
    if (name !== 'iface.iscsi_ifacename') settings.set(name, value);
  }
  return [...settings].sort(([a], [b]) => (a < b ? -1 : 1));
}
