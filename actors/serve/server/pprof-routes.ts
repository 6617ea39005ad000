import type { FastifyInstance } from 'fastify';
import { acceptable } from './acceptable.ts';
import { httpError } from './go-answers.ts';
import { firstValue, parseGoQuery } from './go-query.ts';

/** The longest profile that is made, seconds: Go's server would write for 4 h. */
const LONGEST_SECONDS = 600;

const INDEX = `<html>
<head>
<title>/debug/pprof/</title>
</head>
<body>
/debug/pprof/
<br>
<p>Profiles of the main thread of this agent, in pprof's format:</p>
<ul>
<li><a href='profile?seconds=30'>profile</a>: CPU profile; ?seconds=N</li>
<li><a href='cmdline'>cmdline</a>: the command line of this process</li>
</ul>
</body>
</html>
`;

/** Adds `/debug/pprof/`: a CPU profile of the main thread and the command line; Go's other profiles have no likeness here. */
export function addPprofRoutes(app: FastifyInstance): void {
  app.get<{ Params: { '*': string } }>('/debug/pprof/*', acceptable(), async (request, reply) => {
    const name = request.params['*'];
    reply.header('x-content-type-options', 'nosniff');
    if (name === '') return reply.type('text/html; charset=utf-8').send(INDEX);
    if (name === 'cmdline') return reply.type('text/plain; charset=utf-8').send(process.argv.join('\0'));
    if (name === 'symbol') return reply.type('text/plain; charset=utf-8').send('num_symbols: 1\n');
    if (name !== 'profile') return httpError(reply, 404, 'Unknown profile');
    const asked = Number(firstValue(parseGoQuery(request.url), 'seconds') || 30);
    const seconds = Number.isFinite(asked) && asked > 0 ? Math.min(asked, LONGEST_SECONDS) : 30;
    const gone = new AbortController();
    // The answer's, not the connection's: one that is kept alive would gather a listener with each request.
    reply.raw.once('close', () => gone.abort());
    // Loaded when somebody asks: the profiler and its format are of no use to a node that nobody looks into.
    const { cpuProfile } = await import('./profile.ts');
    const profile = await cpuProfile(seconds, gone.signal);
    return reply
      .type('application/octet-stream')
      .header('content-disposition', 'attachment; filename="profile"')
      .send(profile);
  });
}
