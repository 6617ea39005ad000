import { readFileSync } from 'node:fs';
import { Resolver } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction } from 'node:net';
import { withoutEnd } from '../../../machines/values/trim.ts';

/** Where names are looked up; tests have their own. */
export interface NameSources {
  hosts: string;
  resolvConf: string;
  /** `address:port` of name servers, those of the machine when not given. */
  servers?: readonly string[];
}

const MACHINE: NameSources = { hosts: '/etc/hosts', resolvConf: '/etc/resolv.conf' };

/**
 * A look-up for sockets of probes: `/etc/hosts`, then DNS with the search domains of `/etc/resolv.conf`, as Go's own resolver does
 * it. It asks by sockets: getaddrinfo holds one of the process's few threads for files and names until the name server answers, and
 * pods say what names are asked for.
 */
export function nameLookup(sources: NameSources = MACHINE): LookupFunction {
  return (name, options, told) => {
    const wanted =
      options.family === 4 || options.family === 'IPv4' ? 4 : options.family === 6 || options.family === 'IPv6' ? 6 : 0;
    void addressesOf(name, sources).then(
      (all) => {
        const found = wanted === 0 ? all : all.filter(({ family }) => family === wanted);
        const [first] = found;
        if (first === undefined) told(failure('ENOTFOUND', name), '', 0);
        else if (options.all === true) told(null, found);
        else told(null, first.address, first.family);
      },
      (error: unknown) => told(error as NodeJS.ErrnoException, '', 0),
    );
  };
}

async function addressesOf(name: string, sources: NameSources): Promise<LookupAddress[]> {
  const known = inHosts(textOf(sources.hosts), name);
  if (known.length > 0) return known;
  const conf = readResolvConf(textOf(sources.resolvConf));
  const resolver = new Resolver({ timeout: conf.timeoutMs, tries: conf.tries });
  if (sources.servers !== undefined) resolver.setServers(sources.servers);
  for (const full of fullNames(name, conf)) {
    const answers = await Promise.all([asked(resolver.resolve4(full), 4), asked(resolver.resolve6(full), 6)]);
    const found = answers.flatMap((each) => each ?? []);
    if (found.length > 0) return found;
    // A server that does not answer does so for no name: what is asked next would take as long again.
    if (answers.includes(null)) throw failure('EAI_AGAIN', name);
  }
  throw failure('ENOTFOUND', name);
}

/** Addresses of one family; none when there is no such name, null when nobody could tell. */
async function asked(answer: Promise<string[]>, family: 4 | 6): Promise<LookupAddress[] | null> {
  try {
    return (await answer).map((address) => ({ address, family }));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'ENOTFOUND' || code === 'ENODATA' || code === 'EBADNAME' ? [] : null;
  }
}

/** Addresses that lines `address name...` have for a name. */
function inHosts(text: string, name: string): LookupAddress[] {
  const wanted = withoutEnd(name, '.').toLowerCase();
  const found: LookupAddress[] = [];
  for (const line of text.split('\n')) {
    const [address = '', ...names] = (line.split('#', 1)[0] ?? '').trim().split(/\s+/);
    const family = isIP(address);
    if (family !== 0 && names.some((each) => each.toLowerCase() === wanted)) found.push({ address, family });
  }
  return found;
}

/** Names to ask for, in this order (Go's nameList): the name itself comes first when it has as many dots as `ndots` says. */
function fullNames(name: string, { search, ndots }: ResolvConf): string[] {
  if (name.endsWith('.')) return [name];
  const below = search.map((domain) => `${name}.${withoutEnd(domain, '.')}`);
  return name.split('.').length - 1 >= ndots ? [name, ...below] : [...below, name];
}

/** What resolv.conf(5) says beside the servers, which the resolver reads itself. */
interface ResolvConf {
  search: string[];
  ndots: number;
  timeoutMs: number;
  tries: number;
}

function readResolvConf(text: string): ResolvConf {
  const conf: ResolvConf = { search: [], ndots: 1, timeoutMs: 5_000, tries: 2 };
  for (const line of text.split('\n')) {
    const [key, ...values] = line.trim().split(/\s+/);
    if (key === 'search' || key === 'domain') conf.search = values.filter((each) => each !== '.');
    if (key !== 'options') continue;
    for (const option of values) {
      const [name, number = ''] = option.split(':', 2);
      if (!/^\d{1,3}$/.test(number)) continue;
      if (name === 'ndots') conf.ndots = Math.min(15, Number(number));
      else if (name === 'timeout') conf.timeoutMs = Math.max(1, Number(number)) * 1000;
      else if (name === 'attempts') conf.tries = Math.max(1, Number(number));
    }
  }
  return conf;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function failure(code: string, name: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`lookup ${name}: ${code}`), { code });
}
