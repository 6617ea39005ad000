/** `host[:port]` and path of a location without scheme; the path starts with `/` or is ''. */
interface Location {
  labels: string[];
  port: string;
  path: string;
}

/** No name of DNS is longer, and no part of one, characters; the API takes images of any length. */
const LONGEST_HOST = 255;
const LONGEST_LABEL = 63;

/**
 * Tells which logins' locations cover an image's repository (kubelet's `URLsMatchStr`). Each label of the host may hold
 * `*`, the port must be the same and the path a prefix: `*.docker.io` covers `blah.docker.io/a`, but not `docker.io/a`.
 * Kubelet matches labels by Go's `filepath.Match`, but reads a location as a URL before, which leaves of its patterns only
 * `*`: a host with `[` or `\` is none (`[::1]:5000` apart), and `?` begins a query.
 *
 * Whoever may write a pull secret must not hold the thread, so no location covers a registry whose name no resolver takes:
 * its images cannot be pulled anyway.
 */
export function matcherFor(repository: string): (location: string) => boolean {
  const given = locationOf(repository);
  const tooLong = given.labels.some((label) => label.length > LONGEST_LABEL);
  if (tooLong || given.labels.join('.').length > LONGEST_HOST) return () => false;
  return (location) => {
    const wanted = locationOf(location);
    if (wanted.port !== given.port || wanted.labels.length !== given.labels.length) return false;
    if (!given.path.startsWith(wanted.path)) return false;
    return wanted.labels.every((label, i) => labelMatches(label, given.labels[i] ?? ''));
  };
}

/** Key under which a login is kept: no scheme, `/v1/` and `/v2/` like the host alone. */
export function locationKey(written: string): string {
  const whole = withoutQuery(written.replace(/^https?:\/\//, ''));
  const slash = whole.indexOf('/');
  if (slash < 0) return whole;
  const host = whole.slice(0, slash);
  let path = whole.slice(slash);
  if (path.startsWith('/v1/') || path.startsWith('/v2/')) path = path.slice(3);
  return path === '/' ? host : host + path;
}

function withoutQuery(location: string): string {
  const cut = location.search(/[?#]/);
  return cut < 0 ? location : location.slice(0, cut);
}

function locationOf(written: string): Location {
  const text = withoutQuery(written);
  const slash = text.indexOf('/');
  const authority = slash < 0 ? text : text.slice(0, slash);
  const split = /^(?:\[([^\]]*)\]|([^:]*)):([^:]*)$/.exec(authority);
  return {
    labels: (split?.[1] ?? split?.[2] ?? authority).split('.'),
    port: split?.[3] ?? '',
    path: slash < 0 ? '' : text.slice(slash),
  };
}

/** `*` stands for any characters. Each text between two stars is taken where it first comes: no place is tried twice. */
function labelMatches(pattern: string, label: string): boolean {
  if (/[[\\]/.test(pattern)) return false;
  const [first = '', ...others] = pattern.split('*');
  const last = others.pop();
  if (last === undefined) return pattern === label;
  if (!label.startsWith(first)) return false;
  let at = first.length;
  for (const text of others) {
    const found = label.indexOf(text, at);
    if (found < 0) return false;
    at = found + text.length;
  }
  return label.length - last.length >= at && label.endsWith(last);
}
