/** What Go's ServeMux does with a path before any handler or filter of kubelet sees it. */
export type MuxAnswer = { kind: 'handler' } | { kind: 'notFound' } | { kind: 'redirect'; location: string };

/** Status of its redirects: 301 with the Go of kubelet's releases 1.35 (1.25); Go 1.26 answers 307. */
export const MUX_REDIRECT_STATUS = 301;

/**
 * Looks a path up among patterns: one that ends in `/` takes all below it, another one only itself. An unclean path
 * (`//`, `..`) and one that lacks the slash of its pattern are sent on.
 * @param url as in the request line
 */
export function serveMux(patterns: readonly string[], url: string): MuxAnswer {
  const question = url.search(/[?#]/);
  const escaped = question === -1 ? url : url.slice(0, question);
  const query = question === -1 ? '' : (url.slice(question).split('#', 1)[0] ?? '');
  const clean = cleanPath(escaped);
  // Go compares each part of a path unescaped; a slash that is escaped is no separator to it.
  const path = unescape(clean);
  const found = patterns.some((pattern) => pattern === path || (pattern.endsWith('/') && path.startsWith(pattern)));
  if (!found && patterns.includes(`${path}/`)) return { kind: 'redirect', location: `${clean}/${query}` };
  if (clean !== escaped) return { kind: 'redirect', location: `${clean}${query}` };
  return { kind: found ? 'handler' : 'notFound' };
}

/** Body of a redirect that answers GET. */
export function redirectBody(location: string): string {
  const escapes: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&#34;',
    "'": '&#39;',
  };
  const href = location.replace(/[&<>"']/g, (character) => escapes[character] ?? character);
  return `<a href="${href}">Moved Permanently</a>.\n\n`;
}

/** Which parts of the server there are. */
export interface MuxOptions {
  /** `enableDebuggingHandlers`. */
  debugging: boolean;
  /** Names of the checks below `/healthz`: `ping`, `log`, `syncloop` and those of the node. */
  healthChecks: readonly string[];
  /** Feature gates ContainerCheckpoint, ComponentFlagz and ComponentStatusz. */
  checkpoint: boolean;
  flagz: boolean;
  statusz: boolean;
}

/** The patterns that kubelet's server registers. */
export function kubeletPatterns({ debugging, healthChecks, checkpoint, flagz, statusz }: MuxOptions): string[] {
  const both = (path: string): string[] => [path, `${path}/`];
  return [
    '/healthz',
    ...healthChecks.map((name) => `/healthz/${name}`),
    ...['/metrics', '/metrics/cadvisor', '/metrics/resource', '/metrics/probes', '/metrics/slis'],
    ...both('/pods'),
    '/stats/',
    ...(debugging
      ? [
          ...['/run', '/exec', '/attach', '/portForward', '/containerLogs'].flatMap(both),
          ...['/configz', '/runningpods/', '/logs/', '/debug/pprof/', '/debug/flags/v'],
          ...(checkpoint ? ['/checkpoint/'] : []),
          ...(flagz ? ['/flagz'] : []),
        ]
      : [
          ...['/run/', '/exec/', '/attach/', '/portForward/', '/containerLogs/'],
          ...['/runningpods/', '/debug/pprof/', '/logs/'],
        ]),
    ...(statusz ? ['/statusz'] : []),
  ];
}

/** As Go's cleanPath: no empty, `.` or `..` part; a slash at the end stays. */
function cleanPath(path: string): string {
  const kept: string[] = [];
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') kept.pop();
    else kept.push(part);
  }
  const clean = `/${kept.join('/')}`;
  return path.endsWith('/') && clean !== '/' ? `${clean}/` : clean;
}

function unescape(path: string): string {
  try {
    return decodeURIComponent(path.replace(/%2f/gi, '%252F'));
  } catch {
    return path;
  }
}
