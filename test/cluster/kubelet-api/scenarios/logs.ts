import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { runs, shell } from '../../../containerd/agent/support/test-pod.ts';
import { waitFor } from '../../../tools/wait-for.ts';
import { apiPod } from '../../support/manifests.ts';
import { isReadyPod, uidOf } from '../../support/seen-pods.ts';
import { NODE } from '../support/api-fixture.ts';
import type { ApiFixture } from '../support/api-fixture.ts';

const REST = 'trap "kill $!; exit 0" TERM; sleep 100000 & wait $!';

/** `kubectl logs` with its flags. */
export function logScenarios(api: ApiFixture): void {
  test('kubectl logs shows what the flags ask for', async () => {
    const space = api.space();
    const volumeMounts = [{ name: 'state', mountPath: '/state' }];
    const twice = `if [ -e /state/once ]; then echo second life; ${REST}; fi; touch /state/once; echo first life; exit 4`;
    await space.create(
      apiPod(
        'talks',
        [
          shell('count', `for i in $(seq 20); do echo line $i; done; sleep 2; echo aside >&2; ${REST}`),
          shell('twice', twice, { volumeMounts }),
        ],
        {
          nodeName: NODE,
          initContainers: [shell('prepare', 'echo prepared')],
          volumes: [{ name: 'state', emptyDir: {} }],
        },
      ),
    );
    await space.waitPod('talks', 'twice in its second life', (pod) => {
      const restarted = pod.status?.containerStatuses?.find((c) => c.name === 'twice');
      return isReadyPod(pod) && restarted?.restartCount === 1;
    });
    const logs = (...args: string[]) => space.kubectl('logs', 'talks', ...args);
    await waitFor('the last line', async () => ((await logs('-c', 'count')).includes('aside') ? true : undefined));
    const began = async () => ((await logs('-c', 'twice')) !== '' ? true : undefined);
    await waitFor('the first words of the second life', began);
    await sleep(1_500); // for --since
    const lines = Array.from({ length: 20 }, (_, i) => `line ${i + 1}\n`);
    const all = `${lines.join('')}aside\n`;
    assert.equal(await logs('-c', 'count'), all);
    assert.equal(await logs('-c', 'count', '--tail=2'), 'line 20\naside\n');
    assert.equal(await logs('-c', 'count', '--tail=0'), '');
    assert.equal(await logs('-c', 'count', '--limit-bytes=10'), all.slice(0, 10));
    assert.equal(await logs('-c', 'count', '--since=1h'), all);
    assert.equal(await logs('-c', 'count', '--since=1s'), '');
    const stamped = await logs('-c', 'count', '--timestamps', '--tail=1');
    assert.match(stamped, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+(Z|[+-]\d\d:\d\d) aside\n$/);
    const from = stamped.split(' ', 1)[0] ?? '';
    // times of the API are whole seconds
    assert.equal(await logs('-c', 'count', `--since-time=${from}`), 'aside\n');
    assert.equal(await logs('-c', 'prepare'), 'prepared\n');
    assert.equal(await logs('-c', 'twice'), 'second life\n');
    assert.equal(await logs('-c', 'twice', '--previous'), 'first life\n');
    const together = (await logs('--all-containers', '--prefix')).split('\n');
    for (const line of ['[pod/talks/prepare] prepared', '[pod/talks/count] line 7', '[pod/talks/twice] second life']) {
      assert.ok(together.includes(line), `${line} in ${together.join('\n')}`);
    }
    const kubectl = api.cluster.plane().kubectl;
    const none = await kubectl.try(['-n', space.name, 'logs', 'talks', '-c', 'count', '--previous']);
    assert.equal(none.code, 1);
    assert.match(none.err, /previous terminated container "count" in pod "talks" not found/);
    const wrong = await kubectl.try(['-n', space.name, 'logs', 'talks', '-c', 'nobody']);
    assert.equal(wrong.code, 1);
    assert.match(wrong.err, /container nobody is not valid for pod talks/);
  });

  test('kubectl logs -f follows through rotations and ends with the container', async () => {
    const space = api.space();
    // 1,600 lines of 650 bytes, about 1 MB in ten seconds: more than one rotation
    const pad = 'x'.repeat(600);
    const script = `echo 0 waits; until [ -e /tmp/go ]; do usleep 100000; done; i=0; while [ $i -lt 1600 ]; do i=$((i+1)); echo "$i ${pad}"; [ $((i % 16)) -ne 0 ] || usleep 100000; done; sleep 1`;
    await space.create(apiPod('writes', [shell('c', script)], { nodeName: NODE, restartPolicy: 'Never' }));
    const pod = await space.waitPod('writes', 'running', (p) => p.status?.phase === 'Running');
    const follow = api.kubectl(['logs', '-f', 'writes']);
    // a reader that comes after a rotation is not shown what was before it
    await follow.waitFor(/^0 waits$/m);
    await space.kubectl('exec', 'writes', '--', 'touch', '/tmp/go');
    const { code, out, err } = await follow.mustEnd();
    assert.deepEqual([code, err], [0, '']);
    const numbers = out
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => Number(line.split(' ', 1)[0]));
    const expected = Array.from({ length: 1601 }, (_, i) => i);
    const odd = numbers.findIndex((n, i) => n !== expected[i]);
    assert.ok(odd === -1, `at ${odd}: ${numbers.slice(Math.max(0, odd - 2), odd + 3).join(' ')}`);
    assert.equal(numbers.length, expected.length);
    const folder = join(api.node().dir, 'pod-logs', `${space.name}_writes_${uidOf(pod)}`, 'c');
    const files = await readdir(folder);
    assert.ok(files.length > 1, `rotated: ${files.join(' ')}`);
  });

  test('kubectl logs -f of a pod that goes on ends with its reader', async () => {
    const space = api.space();
    await space.create(
      apiPod('drips', [shell('c', 'while :; do echo drop; usleep 200000; done')], {
        nodeName: NODE,
        terminationGracePeriodSeconds: 0,
      }),
    );
    await space.waitPod('drips', 'ready', isReadyPod);
    const follow = api.kubectl(['logs', '-f', '--tail=1', 'drips']);
    await follow.waitFor(/(drop\n){5}/);
    await follow.kill();
    await space.create(apiPod('waits', [runs('c')], { nodeName: 'nowhere' }));
    const early = await api.cluster.plane().kubectl.try(['-n', space.name, 'logs', 'waits']);
    assert.equal(early.code, 1, early.out);
    await space.remove('Pod', 'waits', { gracePeriodSeconds: 0 });
    await space.remove('Pod', 'drips', { gracePeriodSeconds: 0 });
  });
}
