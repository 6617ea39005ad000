/** What is asked of a node: `NS` and `UID` stand for the namespace and the UID of the pod `work` on it. */
export interface Question {
  method: string;
  path: string;
  /** The body of a good answer is always the same, too. */
  exact?: boolean;
}

const POD = 'NS/work/main';
const PATHS: readonly string[] = [
  '/',
  ...['/pods', '/pods/', '/pods/x', '/podsx', '/runningpods', '/runningpods/', '/runningpods/x'],
  ...['/metrics', '/metrics/', '/metrics/cadvisor', '/metrics/cadvisor/', '/metrics/resource', '/metrics/probes'],
  ...['/metrics/slis', '/metrics/none', '/metricsx', '/stats', '/stats/', '/stats/summary', '/stats/summary/'],
  ...['/stats/summary?only_cpu_and_memory=true', '/stats/container', '/stats/none', '/spec', '/spec/'],
  ...['/logs', '/logs/', '/logs/no-such-file', '/logs/../../etc/passwd', '/logs/%2e%2e/%2e%2e/etc/passwd'],
  ...['/logs/..%2f..%2fetc%2fpasswd', '/configz', '/configz/', '/flagz', '/statusz', '/healthz/none', '/healthz/'],
  ...['/containerLogs', '/containerLogs/', '/containerLogs/NS', '/containerLogs/NS/work', `/containerLogs/${POD}/`],
  ...['/containerLogs/NS/nobody/main', '/containerLogs/NS/work/nobody', `/containerLogs/${POD}?tailLines=-1`],
  ...[`/containerLogs/${POD}?tailLines=many`, `/containerLogs/${POD}?previous=true`, `/containerLogs/${POD}/more`],
  ...[`/containerLogs/${POD}?sinceSeconds=0`, `/containerLogs/${POD}?limitBytes=0`, `/containerLogs/${POD}?stream=x`],
  ...['/exec', '/exec/', `/exec/${POD}`, `/exec/${POD}?command=true&output=1`, '/exec/NS/work', '/exec/NS/nobody/main'],
  ...['/exec/NS/nobody/main?command=true&output=1', '/exec/NS/work/nobody?command=true&output=1'],
  ...['/exec/NS/work/UID/main?command=true&output=1', '/exec/NS/work/other-uid/main?command=true&output=1'],
  ...[`/exec/${POD}?output=1`, `/exec/${POD}?command=true&tty=1&error=1`, `/exec/${POD}/a/b?output=1`],
  ...['/attach', '/attach/', `/attach/${POD}`, `/attach/${POD}?output=1`, '/attach/NS/nobody/main?output=1'],
  ...['/attach/NS/work/nobody?output=1', '/attach/NS/work/UID/main?output=1'],
  ...['/portForward', '/portForward/', '/portForward/NS/work', '/portForward/NS/nobody', '/portForward/NS/work/UID'],
  ...['/portForward/NS/work/other-uid', '/portForward/NS/work?port=80', '/portForward/NS/work/UID/more'],
  ...['/run', '/run/', '/run/NS/work', '/run/NS/nobody/main?cmd=true', '/run/NS/work/nobody?cmd=true'],
  ...['/checkpoint', '/checkpoint/', '/checkpoint/NS/work', '/checkpoint/NS/nobody/main', '/checkpoint/NS/work/nobody'],
  ...[
    '/checkpoint/NS/work/main?timeout=long',
    '/cri',
    '/cri/exec/x',
    '/debug',
    '/debug/',
    '/debug/pprof',
    '/debug/pprof/cmdline',
  ],
  ...['/debug/flags', '/debug/flags/', '/debug/flags/v', '/debug/flags/x', '/debug/pprof/none'],
  ...['/api', '/api/v1/pods', '/version', '/livez', '/readyz', '/favicon.ico', '/actorlet', '/actorlet/pods'],
  ...['//pods', '/./pods', '/x/../pods', '/pods/../configz', '/pods/%2e%2e/configz', '/%70ods', '/pods%2f', '/PODS'],
  ...[
    '/metrics/../run/NS/work/main?cmd=id',
    '/healthz/../pods',
    '/pods/..;/configz',
    '/pods?x=%zz',
    '/%00',
    '/a%0d%0ab',
  ],
];
const EXACT: readonly string[] = [
  '/healthz',
  '/healthz/ping',
  '/healthz/log',
  '/healthz/syncloop',
  '/healthz?verbose=1',
  `/containerLogs/${POD}`,
  `/containerLogs/${POD}?tail=1`,
  `/containerLogs/${POD}?tailLines=1`,
  `/run/${POD}?cmd=echo%20hello`,
  '/run/NS/work/UID/main?cmd=echo%20hello',
  '/run/NS/work/main?cmd=/no/such',
];

/** Every path with every method that a server may know. */
export function questions(methods: readonly string[]): Question[] {
  return methods.flatMap((method) => [
    ...PATHS.map((path) => ({ method, path })),
    ...EXACT.map((path) => ({ method, path, exact: true })),
  ]);
}
