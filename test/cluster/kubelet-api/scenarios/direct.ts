import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { clusterTool } from '../../support/cluster-tool.ts';
import { RunningCommand } from '../../support/running-command.ts';
import { NODE, WORK } from '../support/api-fixture.ts';
import type { ApiFixture } from '../support/api-fixture.ts';
import { nodeClient } from '../support/node-client.ts';
import { noise } from '../support/noise.ts';
import { ECHO_PORT } from '../support/work-pod.ts';

const PYTHON_CLIENT = fileURLToPath(new URL('../support/exec_client.py', import.meta.url));
/** Debian's own Python has Debian's modules. */
const PYTHON = '/usr/bin/python3';
const MIB = 1 << 20;

/** What the Python client prints. */
interface PythonEnd {
  protocol: string;
  stdout: string;
  stderr: string;
  status: { status: string; reason?: string; message?: string; details?: unknown } | null;
  refused?: number;
}

/** Clients of other languages, straight to the agent's own port with a client certificate. */
export function directScenarios(api: ApiFixture): void {
  const base = (scheme: string) => `${scheme}://${api.node().address}:${api.node().ports.port}`;
  const execUrl = (scheme: string, command: readonly string[], more: Readonly<Record<string, string>>) => {
    const query = new URLSearchParams(more);
    for (const word of command) query.append('command', word);
    return `${base(scheme)}/exec/${api.space().name}/${WORK}/main?${query.toString()}`;
  };
  const go = async (command: string, url: string, ...args: string[]) => {
    const { cert, key, ca } = await nodeClient(api.cluster.plane());
    const files = ['-cert', cert, '-key', key, '-ca', ca];
    return new RunningCommand(await clusterTool('stream-client'), [command, '-url', url, ...files, ...args], {});
  };
  const sh = (script: string) => ['sh', '-c', script];
  const BOTH = { output: '1', error: '1' };

  for (const transport of ['v5', 'v4', 'spdy']) {
    describe(`a Go client straight to the node, ${transport}`, { concurrency: 2 }, () => {
      // The reference joins the client to containerd 1.6, which knows WebSocket up to v4.
      const skip = (): boolean => transport === 'v5' && api.node().kind === 'kubelet';

      test('stdout, stderr, exit code', async (t) => {
        if (skip()) return t.skip('the reference has no WebSocket v5 with containerd 1.6');
        const url = execUrl('https', sh('echo to out; echo to err >&2; exit 3'), BOTH);
        const end = await (await go('exec', url, '-transport', transport)).mustEnd();
        assert.deepEqual([end.code, end.out, end.err], [3, 'to out\n', 'to err\n']);
      });

      // WebSocket v4 cannot close stdin.
      if (transport !== 'v4')
        test('stdin to its end, and much of it', async (t) => {
          if (skip()) return t.skip('the reference has no WebSocket v5 with containerd 1.6');
          const url = execUrl('https', ['sha256sum'], { ...BOTH, input: '1' });
          const sum = await go('exec', url, '-transport', transport, '-stdin');
          const { stream, sha256 } = noise(20 * MIB);
          await sum.feed(stream);
          const end = await sum.mustEnd();
          assert.deepEqual([end.code, end.out], [0, `${sha256()}  -\n`], end.err);
        });

      test('much output', async (t) => {
        if (skip()) return t.skip('the reference has no WebSocket v5 with containerd 1.6');
        // Less than a client of a busy machine takes in 5 s: then it sends a ping, and a runtime that closes the connection with something unread in it
        // resets it, and what was still on its way is lost. No node is asked.
        const size = 8 * MIB;
        const url = execUrl('https', sh(`yes 0123456789 | head -c ${String(size)}`), BOTH);
        const end = await (await go('exec', url, '-transport', transport)).mustEnd();
        const text = '0123456789\n'.repeat(Math.ceil(size / 11)).slice(0, size);
        assert.deepEqual([end.code, end.bytes], [0, size], end.err);
        assert.equal(end.sha256, createHash('sha256').update(text).digest('hex'));
      });

      test('a terminal that changes its size', async (t) => {
        if (skip()) return t.skip('the reference has no WebSocket v5 with containerd 1.6');
        const until = (size: string) => `until stty size 2>/dev/null | grep -x "${size}"; do usleep 50000; done`;
        const script = `${until('24 80')}; ${until('40 100')}`;
        const url = execUrl('https', sh(script), { input: '1', output: '1', tty: '1' });
        // one each half second; what comes before the command has begun is lost, so they come again
        const resize = Array<string>(200).fill('80x24,100x40').join(',');
        const args = ['-transport', transport, '-stdin', '-tty', '-resize', resize];
        const end = await (await go('exec', url, ...args)).mustEnd();
        assert.deepEqual([end.code, end.out], [0, '24 80\r\n40 100\r\n'], end.err);
      });

      test('no such command, no such pod', async (t) => {
        if (skip()) return t.skip('the reference has no WebSocket v5 with containerd 1.6');
        const url = execUrl('https', ['/no/such/program'], BOTH);
        const end = await (await go('exec', url, '-transport', transport)).mustEnd();
        assert.equal(end.code, 255);
        assert.match(end.err, /no such file or directory/);
        const nobody = url.replace(`/${WORK}/`, '/nobody/');
        const none = await (await go('exec', nobody, '-transport', transport)).mustEnd();
        assert.equal(none.code, 255);
        assert.match(none.err, transport === 'spdy' ? /pod does not exist/ : /bad handshake|pod does not exist/);
      });
    });
  }

  test('a Go client forwards ports straight to the node', async () => {
    const url = `${base('https')}/portForward/${api.space().name}/${WORK}`;
    const flags = ['-port', String(ECHO_PORT), '-connections', '20', '-bytes', String(MIB)];
    const end = await (await go('forward', url, ...flags)).mustEnd();
    assert.equal(end.code, 0, end.err);
    assert.equal((JSON.parse(end.out) as { bytes: number }).bytes, 20 * MIB);
  });

  const python = async (url: string, protocol: string, ...args: string[]): Promise<PythonEnd> => {
    const { cert, key, ca } = await nodeClient(api.cluster.plane());
    const files = ['--cert', cert, '--key', key, '--ca', ca];
    const all = [PYTHON_CLIENT, '--url', url, ...files, '--protocol', protocol, ...args];
    const end = await new RunningCommand(PYTHON, all, { PYTHONDONTWRITEBYTECODE: '1' }).mustEnd();
    assert.equal(end.code, 0, end.err);
    return JSON.parse(end.out) as PythonEnd;
  };

  for (const protocol of ['v5.channel.k8s.io', 'v4.channel.k8s.io']) {
    test(`a Python client over WebSocket ${protocol}`, async (t) => {
      const isV5 = protocol.startsWith('v5');
      if (isV5 && api.node().kind === 'kubelet') return t.skip('the reference has no v5 with containerd 1.6');
      const url = execUrl('wss', sh('echo to out; echo to err >&2; exit 3'), BOTH);
      const { status, ...rest } = await python(url, protocol);
      assert.deepEqual(rest, { protocol, stdout: 'to out\n', stderr: 'to err\n' });
      // the rest of the message is the runtime's
      assert.match(status?.message ?? '', /^command terminated with non-zero exit code: /);
      assert.deepEqual(
        { ...status, message: '' },
        {
          metadata: {},
          status: 'Failure',
          message: '',
          reason: 'NonZeroExitCode',
          details: { causes: [{ reason: 'ExitCode', message: '3' }] },
        },
      );
      const read = sh(isV5 ? 'cat; echo end' : 'read word; echo "$word"; echo end');
      const talk = await python(
        execUrl('wss', read, { ...BOTH, input: '1' }),
        protocol,
        '--stdin',
        'hello\n',
        ...(isV5 ? ['--close-stdin'] : []),
      );
      assert.deepEqual([talk.stdout, talk.status], ['hello\nend\n', { metadata: {}, status: 'Success' }]);
      // containerd sets the size beside the keys
      const looks = 'echo up; read word; until stty size 2>/dev/null | grep -x "44 99"; do usleep 50000; done';
      const sized = execUrl('wss', sh(looks), { output: '1', input: '1', tty: '1' });
      const tty = await python(sized, protocol, '--wait', 'up', '--resize', '99x44', '--stdin', '\n');
      assert.equal(tty.stdout, 'up\r\n\r\n44 99\r\n');
    });
  }

  test(`what the runtime says over CRI agrees with what the node says`, async () => {
    const { containerd } = api.node();
    const running = (await containerd.cri.containers()).filter((c) => c.state === 1);
    const pods = await api.space().kubectl('get', '--raw', `/api/v1/nodes/${NODE}/proxy/runningpods/`);
    const list = JSON.parse(pods) as {
      items: { metadata: { uid: string }; spec: { containers: { name: string }[] } }[];
    };
    const work = running.filter((c) => c.labels['io.kubernetes.pod.name'] === WORK);
    const uid = work[0]?.labels['io.kubernetes.pod.uid'];
    const told = list.items.find((p) => p.metadata.uid === uid)?.spec.containers.map((c) => c.name) ?? [];
    assert.deepEqual(told.sort(), work.map((c) => c.labels['io.kubernetes.container.name'] ?? '').sort());
  });
}
