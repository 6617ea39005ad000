/**
 * Stands in for the agent in the tests of bin/demo: a private containerd, the two HTTP endpoints, and one "pod" that
 * is up as soon as its manifest is there. `FAKE_AGENT` chooses what goes wrong: `exits`, `never-up`, `leaves-logs`.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { silentLog } from '../../../cri/private-containerd/runtime-log.ts';
import { startPrivateContainerd } from '../../../cri/private-containerd/start-private-containerd.ts';

if (process.argv[2] === 'replay') {
  const records = readFileSync(process.argv[3] ?? '', 'utf8')
    .trim()
    .split('\n');
  process.stdout.write(`${records.every((line) => JSON.parse(line) !== null) ? 'identical' : 'different'}\n`);
  process.exit(0);
}
const { values } = parseArgs({
  options: {
    config: { type: 'string', default: '' },
    'root-dir': { type: 'string', default: '' },
    'cert-dir': { type: 'string', default: '' },
    'device-plugins-dir': { type: 'string', default: '' },
    'pod-manifest-path': { type: 'string', default: '' },
    'hostname-override': { type: 'string', default: '' },
    'private-containerd': { type: 'string', default: '' },
    inspect: { type: 'string', default: '' },
  },
});
const fault = process.env['FAKE_AGENT'] ?? '';
if (fault === 'exits') {
  process.stderr.write('{"ts":1,"msg":"Nothing works today"}\n');
  process.exit(3);
}
const rootDir = values['root-dir'];
const config = JSON.parse(readFileSync(values.config, 'utf8')) as { healthzPort: number; readOnlyPort: number };
const runtime = await startPrivateContainerd({ rootDir, log: silentLog });
if (values['private-containerd'] !== 'always') process.exit(4);
// The machine's own kubelet keeps its folder of device plugins.
if (values['device-plugins-dir'] !== join(rootDir, 'device-plugins')) process.exit(5);
mkdirSync(join(rootDir, 'journal'));
writeFileSync(join(rootDir, 'journal', 'shard-00-00000001.jsonl'), '{"n":1}\n{"n":2}\n');

const uid = 'fake-uid';
const logLines: Record<string, string> = {
  prepare: 'prepare: wrote the greeting',
  web: 'web: serving "hello from actorlet"',
  clock: 'clock: tick 1',
};
let podName = '';
function logDir(): string {
  return `/var/log/pods/default_${podName}_${uid}`;
}

function look(): void {
  const [manifest] = readdirSync(values['pod-manifest-path']).filter((name) => !name.startsWith('.'));
  if (manifest !== undefined && podName === '') {
    podName = `${manifest.replace('.json', '')}-${values['hostname-override']}`;
    for (const state of ['syncing.creatingSandbox', 'syncing.running']) {
      process.stderr.write(
        `${JSON.stringify({ ts: 1, msg: 'Pod state changed', pod: `default/${podName}`, state, v: 0 })}\n`,
      );
    }
    for (const [container, line] of Object.entries(logLines)) {
      mkdirSync(join(logDir(), container), { recursive: true });
      writeFileSync(join(logDir(), container, '0.log'), `2026-01-01T00:00:00.000000000Z stdout F ${line}\n`);
    }
  }
  if (manifest === undefined && podName !== '') {
    if (fault !== 'leaves-logs') rmSync(logDir(), { recursive: true });
    podName = '';
  }
}
setInterval(look, 50);

function pod(): object {
  const container = (name: string) => ({ name, ready: true, restartCount: 0, state: { running: { startedAt: 'x' } } });
  return {
    metadata: { name: podName, namespace: 'default', uid },
    status: {
      phase: fault === 'never-up' ? 'Pending' : 'Running',
      podIP: '10.0.0.9',
      initContainerStatuses: [
        { name: 'prepare', ready: true, restartCount: 0, state: { terminated: { exitCode: 0, reason: 'Completed' } } },
      ],
      containerStatuses: [container('web'), container('clock')],
    },
  };
}
createServer((_, reply) => reply.end('ok')).listen(config.healthzPort, '127.0.0.1');
createServer((_, reply) => reply.end(JSON.stringify({ kind: 'PodList', items: podName === '' ? [] : [pod()] }))).listen(
  config.readOnlyPort,
  '127.0.0.1',
);
const address = `http://${values.inspect}/?token=fake`;
const addressFile = join(rootDir, 'inspector-address');
writeFileSync(addressFile, `${address}\n`);
createServer((_, reply) => reply.end(JSON.stringify([{ name: podName }])))
  .listen(Number(values.inspect.split(':')[1]), '127.0.0.1')
  .once('listening', () =>
    process.stderr.write(`${JSON.stringify({ ts: 1, msg: 'Inspector: open this', addressFile, v: 0 })}\n`),
  );
process.on('SIGTERM', () => {
  runtime.detach();
  process.exit(0);
});
