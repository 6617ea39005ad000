import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BUSYBOX_IMAGE } from '../../../../cri/private-containerd/own-images.ts';
import { runs } from '../../../containerd/agent/support/test-pod.ts';
import { waitFor } from '../../../tools/wait-for.ts';
import { apiPod } from '../../support/manifests.ts';
import { isReadyPod } from '../../support/seen-pods.ts';
import { NODE } from '../support/api-fixture.ts';
import type { ApiFixture } from '../support/api-fixture.ts';
import { Terminal } from '../support/terminal.ts';

/** `kubectl debug`: ephemeral containers. */
export function debugScenarios(api: ApiFixture): void {
  test('kubectl debug adds a container to a running pod', async () => {
    const space = api.space();
    await space.create(apiPod('patient', [runs('c')], { nodeName: NODE }));
    const before = await space.waitPod('patient', 'ready', isReadyPod);
    const image = [`--image=${BUSYBOX_IMAGE}`, '--image-pull-policy=IfNotPresent', '--profile=general'];
    const script =
      'echo looking; ps -o args | grep -cx "sleep 100000"; trap "exit 0" TERM; while :; do usleep 100000; done';
    const command = ['--target=c', '--', 'sh', '-c', script];
    await space.kubectl('debug', 'patient', '-c', 'doctor', ...image, ...command);
    const state = (name: string) => (p: typeof before) =>
      p.status?.ephemeralContainerStatuses?.find((c) => c.name === name)?.state;
    await space.waitPod('patient', 'doctor runs', (p) => state('doctor')(p)?.running !== undefined);
    const inside = await space.kubectl('exec', 'patient', '-c', 'doctor', '--', 'sh', '-c', 'echo within; hostname');
    assert.equal(inside, 'within\npatient\n');
    // with --target it sees the processes of the container
    const said = await waitFor('its words', async () => {
      const text = await space.kubectl('logs', 'patient', '-c', 'doctor');
      return text.split('\n').length > 2 ? text : undefined;
    });
    assert.equal(said, 'looking\n1\n');

    const { kubectl } = api.cluster.plane();
    const argv = kubectl.argv(['-n', space.name, 'debug', '-it', 'patient', '-c', 'nurse', ...image, '--', 'sh']);
    const terminal = await Terminal.open(argv, kubectl.environment, { columns: 100, rows: 30 });
    try {
      await terminal.waitFor(/# $|command prompt/m);
      await terminal.type('echo "answer $((6 * 7))"');
      await terminal.waitFor(/^answer 42$/m);
      await terminal.type('exit 3');
      await terminal.waitFor(/^ended with \d+$/m);
    } finally {
      await terminal.stop();
    }
    const after = await space.waitPod('patient', 'nurse is done', (p) => state('nurse')(p)?.terminated !== undefined);
    assert.equal(state('nurse')(after)?.terminated?.exitCode, 3);
    assert.ok(isReadyPod(after));
    assert.deepEqual(after.status?.containerStatuses?.[0]?.state, before.status?.containerStatuses?.[0]?.state);
    await space.remove('Pod', 'patient');
  });
}
