import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import { TRANSPORTS, WORK } from '../support/api-fixture.ts';
import type { ApiFixture } from '../support/api-fixture.ts';
import { noise } from '../support/noise.ts';
import { residentMiB } from '../support/process-figures.ts';
import { Terminal } from '../support/terminal.ts';

const MAIN = ['exec', WORK, '-c', 'main'];
const MIB = 1 << 20;

/** `kubectl exec`. */
export function execScenarios(api: ApiFixture): void {
  for (const { name, env } of TRANSPORTS) {
    describe(`kubectl exec over ${name}`, { concurrency: 2 }, () => {
      const exec = (...args: string[]) => api.kubectl([...MAIN, ...args], env);

      test('stdout, stderr and exit codes', async () => {
        const plain = await exec('--', 'sh', '-c', 'echo to out; echo to err >&2').mustEnd();
        assert.deepEqual([plain.code, plain.out, plain.err], [0, 'to out\n', 'to err\n']);
        for (const [script, code] of [
          ['exit 3', 3],
          ['kill -9 $$', 137],
        ] as const) {
          const end = await exec('--', 'sh', '-c', script).mustEnd();
          assert.equal(end.code, code, end.err);
          assert.match(end.err, new RegExp(`^command terminated with exit code ${code}$`, 'm'));
        }
        const nothing = await exec('--', '/no/such/program').mustEnd();
        assert.ok(nothing.code !== 0);
        assert.match(nothing.err, /no such file or directory/);
        const folder = await exec('--', '/tmp').mustEnd();
        assert.ok(folder.code !== 0);
        assert.match(folder.err, /permission denied/);
      });

      test('stdin is sent to its end', async () => {
        const text = 'all of it\n'.repeat(1000);
        const sum = exec('-i', '--', 'sh', '-c', 'sha256sum; echo after');
        sum.write(text);
        sum.end();
        const { code, out } = await sum.mustEnd();
        assert.equal(code, 0);
        assert.equal(out, `${createHash('sha256').update(text).digest('hex')}  -\nafter\n`);
        // and without a word
        const empty = exec('-i', '--', 'cat');
        empty.end();
        assert.deepEqual((await empty.mustEnd()).bytes, 0);
      });

      test('a command in a conversation answers at once', async () => {
        const cat = exec('-i', '--', 'cat');
        for (const word of ['one', 'two', 'three']) {
          cat.write(`${word}\n`);
          await cat.waitFor(new RegExp(`${word}\n`));
        }
        cat.end();
        const end = await cat.mustEnd();
        assert.deepEqual([end.code, end.out], [0, 'one\ntwo\nthree\n']);
      });

      // most calls go by WebSocket today
      const size = name === 'WebSocket' ? 200 * MIB : 32 * MIB;
      test(`${size / MIB} MB each way, with the agent's memory flat`, async () => {
        const agent = api.node().agent.pid;
        const file = `/tmp/noise-${name}`;
        let most = residentMiB(agent);
        const before = most;
        const watch = setInterval(() => (most = Math.max(most, residentMiB(agent))), 100);
        try {
          const { stream, sha256 } = noise(size);
          const up = exec('-i', '--', 'sh', '-c', `cat > ${file}; sha256sum < ${file}`);
          await up.feed(stream);
          const sent = await up.mustEnd();
          const expected = sha256();
          assert.deepEqual([sent.code, sent.out], [0, `${expected}  -\n`], sent.err);
          const got = await exec('--', 'cat', file).mustEnd();
          assert.deepEqual([got.code, got.bytes, got.sha256], [0, size, expected], got.err);
        } finally {
          clearInterval(watch);
          await exec('--', 'rm', '-f', file).mustEnd();
        }
        assert.ok(most - before < 64, `resident: ${before} MiB before, ${most} MiB at most`);
      });

      test('a real terminal', async () => {
        const { kubectl } = api.cluster.plane();
        const argv = kubectl.argv(['-n', api.space().name, ...MAIN, '-it', '--', 'sh']);
        const terminal = await Terminal.open(argv, { ...kubectl.environment, ...env }, { columns: 100, rows: 30 });
        try {
          await terminal.waitFor(/# $/m);
          await terminal.type('stty size; tty; echo "first $((40 + 2))"');
          await terminal.waitFor(/^30 100$/m);
          await terminal.waitFor(/^\/dev\/(pts\/\d+|console)$/m);
          await terminal.waitFor(/^first 42$/m);
          await terminal.resize(77, 21);
          await terminal.type('until stty size | grep "^21 77"; do usleep 100000; done');
          await terminal.waitFor(/^21 77$/m);
          await terminal.type(`sh -c 'echo "asleep $((40 + 2))"; exec sleep 1000'`);
          await terminal.waitFor(/^asleep 42$/m);
          await terminal.press('C-c');
          await terminal.type('echo "woken by $?"');
          await terminal.waitFor(/^woken by 130$/m);
          await terminal.type('exit 5');
          await terminal.waitFor(/^ended with 5$/m);
        } finally {
          await terminal.stop();
        }
      });

      test('a client that is killed leaves no command behind', async () => {
        const marker = `10${name.length}${Date.now() % 100_000}`;
        const lost = exec('-i', '--', 'sh', '-c', `echo up; exec cat - /dev/null ${marker}`);
        await lost.waitFor(/up/);
        await lost.kill();
        const look = `for i in $(seq 350); do ps | grep -q "[c]at - /dev/null ${marker}" || { echo gone; exit; }; `;
        const gone = await exec('--', 'sh', '-c', `${look} usleep 200000; done; ps`).mustEnd();
        assert.match(gone.out, /gone/);
      });
    });
  }

  test('exec in what is not there says so', async () => {
    const nobody = await api.kubectl(['exec', 'nobody', '--', 'true']).mustEnd();
    assert.deepEqual([nobody.code, nobody.err], [1, 'Error from server (NotFound): pods "nobody" not found\n']);
    const wrong = await api.kubectl(['exec', WORK, '-c', 'nobody', '--', 'true']).mustEnd();
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /container nobody is not valid for pod work/);
  });
}
