import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUSYBOX_IMAGE } from '../../../../cri/private-containerd/own-images.ts';
import { shell } from '../../../containerd/agent/support/test-pod.ts';
import { apiPod } from '../../support/manifests.ts';
import { isReadyPod } from '../../support/seen-pods.ts';
import { NODE, TRANSPORTS } from '../support/api-fixture.ts';
import type { ApiFixture } from '../support/api-fixture.ts';
import { Terminal } from '../support/terminal.ts';

/** kubectl sends one size more first, so that what it joins draws itself; the real one comes a moment later. */
const SIZED =
  'read word; echo "word is $word"; until stty size 2>/dev/null | grep -x "25 90"; do usleep 100000; done; read word; exit 9';

/** `kubectl attach` and `kubectl run -it`. */
export function attachScenarios(api: ApiFixture): void {
  for (const { name, env } of TRANSPORTS) {
    const suffix = name.toLowerCase();

    test(`kubectl attach with and without stdin over ${name}`, async () => {
      const space = api.space();
      const pod = `attach-${suffix}`;
      const reads = 'while read line; do echo "got $line"; echo "heard $line" >&2; done; echo end of input; exit 6';
      await space.create(
        apiPod(
          pod,
          [
            shell('once', reads, { stdin: true, stdinOnce: true }),
            shell('ticks', 'while :; do echo tick; usleep 200000; done'),
          ],
          { nodeName: NODE, restartPolicy: 'Never', terminationGracePeriodSeconds: 0 },
        ),
      );
      await space.waitPod(pod, 'ready', isReadyPod);
      const watcher = api.kubectl(['attach', pod, '-c', 'ticks'], env);
      await watcher.waitFor(/(tick\n){3}/);
      await watcher.kill();
      const talker = api.kubectl(['attach', '-i', pod, '-c', 'once'], env);
      // what is written before the runtime has joined the streams is kept for it
      talker.write('one\n');
      await talker.waitFor(/^got one$/m);
      await talker.waitFor(/^heard one$/m, 'err');
      talker.write('two\n');
      await talker.waitFor(/^got two$/m);
      talker.end();
      await talker.mustEnd();
      const done = await space.waitPod(pod, 'once has ended', (p) =>
        Boolean(p.status?.containerStatuses?.some((c) => c.name === 'once' && c.state?.terminated !== undefined)),
      );
      const state = done.status?.containerStatuses?.find((c) => c.name === 'once')?.state;
      assert.equal(state?.terminated?.exitCode, 6);
      assert.match(await space.kubectl('logs', pod, '-c', 'once'), /end of input/);
      await space.remove('Pod', pod, { gracePeriodSeconds: 0 });
    });

    test(`kubectl run -it in a terminal over ${name}`, async () => {
      const space = api.space();
      const { kubectl } = api.cluster.plane();
      const overrides = JSON.stringify({ spec: { nodeName: NODE, automountServiceAccountToken: false } });
      const args = ['run', `shell-${suffix}`, '-it', '--rm', '--restart=Never', `--image=${BUSYBOX_IMAGE}`];
      const argv = kubectl.argv([
        ...['-n', space.name, ...args, '--image-pull-policy=IfNotPresent', '--overrides', overrides],
        ...['--', 'sh', '-c', SIZED],
      ]);
      const terminal = await Terminal.open(argv, { ...kubectl.environment, ...env }, { columns: 90, rows: 25 });
      try {
        await terminal.waitFor(/If you don't see a command prompt/);
        await terminal.type('hello');
        await terminal.waitFor(/^word is hello$/m);
        await terminal.waitFor(/^25 90$/m);
        await terminal.type('');
        await terminal.waitFor(/deleted from/);
        await terminal.waitFor(/^ended with 9$/m);
      } finally {
        await terminal.stop();
      }
      assert.equal(await space.pod(`shell-${suffix}`), undefined);
    });
  }
}
