import type { HostResolver } from '../protocol/node-settings.ts';

/**
 * A resolver file as kubelet reads it (parseResolvConf): servers add up, the last search list counts, and of options of one name the last
 * one. Search names lose their last dot, so that one with and one without it are the same.
 */
export function parseResolvConf(text: string): HostResolver | { error: string } {
  const nameservers: string[] = [];
  let searches: string[] = [];
  const options = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [word, ...rest] = line.trim().split(/\s+/);
    if (word === 'nameserver') {
      if (rest[0] === undefined)
        return { error: 'Encountered error while parsing resolv conf file. Error: nameserver list is empty ' };
      nameservers.push(rest[0]);
    }
    if (word === 'search') searches = rest.filter((name) => name !== '.').map((name) => name.replace(/\.$/, ''));
    if (word === 'options') for (const option of rest) options.set(option.split(':', 1)[0] ?? '', option);
  }
  return { nameservers, searches, options: [...options.values()] };
}
