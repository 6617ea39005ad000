/** `host[:port]` and path of a location without scheme; the path starts with `/` or is ''. */
interface Location {
  labels: string[];
  port: string;
  path: string;
}

/**
 * Does a login's location cover an image's repository? Each label of the host may hold `*` (and `?`, `[a-z]`), the
 * port must be the same and the path a prefix: `*.docker.io` covers `blah.docker.io/a`, but not `docker.io/a`.
 */
export function locationMatches(pattern: string, repository: string): boolean {
  const wanted = locationOf(pattern);
  const given = locationOf(repository);
  if (wanted.port !== given.port || wanted.labels.length !== given.labels.length) return false;
  if (!given.path.startsWith(wanted.path)) return false;
  return wanted.labels.every((label, i) => globMatches(label, given.labels[i] ?? ''));
}

/** Key under which a login is kept: no scheme, `/v1/` and `/v2/` like the host alone. */
export function locationKey(written: string): string {
  const bare = written.replace(/^https?:\/\//, '');
  const cut = bare.search(/[?#]/);
  const whole = cut < 0 ? bare : bare.slice(0, cut);
  const slash = whole.indexOf('/');
  if (slash < 0) return whole;
  const host = whole.slice(0, slash);
  let path = whole.slice(slash);
  if (path.startsWith('/v1/') || path.startsWith('/v2/')) path = path.slice(3);
  return path === '/' ? host : host + path;
}

function locationOf(text: string): Location {
  const slash = text.indexOf('/');
  const authority = slash < 0 ? text : text.slice(0, slash);
  const split = /^(\[[^\]]*\]|[^:]*):([^:]*)$/.exec(authority);
  return {
    labels: (split?.[1] ?? authority).split('.'),
    port: split?.[2] ?? '',
    path: slash < 0 ? '' : text.slice(slash),
  };
}

/** Shell pattern of one label, as Go's `filepath.Match`; a malformed pattern matches nothing. */
function globMatches(pattern: string, text: string): boolean {
  if (!/[*?[\\]/.test(pattern)) return pattern === text;
  let source = '';
  for (let i = 0; i < pattern.length; i++) {
    const char = pattern.charAt(i);
    if (char === '*') source += '.*';
    else if (char === '?') source += '.';
    else if (char === '[') {
      const end = pattern.indexOf(']', i + 2);
      if (end < 0) return false;
      source += `[${pattern.slice(i + 1, end).replace(/[[\\]/g, '\\$&')}]`;
      i = end;
    } else {
      if (char === '\\') i++;
      source += pattern.charAt(i).replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
    }
  }
  try {
    return new RegExp(`^${source}$`, 's').test(text);
  } catch {
    return false;
  }
}
