import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import type { Pod } from '../../../machines/protocol/api-types.ts';
import { isReady } from './support/seen.ts';
import { podOf, runs, shell } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';

const failed = (pod: Pod) => pod.status?.phase === 'Failed';
const words = (pod: Pod) => `${pod.status?.reason}: ${pod.status?.message}`;

test('a node without an API server judges its static pods as kubelet does', async (t) => {
  const node = await TestNode.make({
    config: { seccompDefault: true, maxPods: 4 },
    flags: ['--node-labels=disk=fast'],
  });
  t.after(() => node.stop());
  await node.startAgent();

  await t.test('what the node cannot give is refused, with reason and event, and nothing of it is made', async () => {
    await node.write('slow.json', podOf('slow', [runs('c')], { nodeSelector: { disk: 'slow' } }));
    const slow = await node.waitPod('slow', 'refused', failed);
    const why = "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector";
    assert.equal(words(slow), `NodeAffinity: Pod was rejected: ${why}`);
    await waitFor('its event', async () =>
      (await node.events('slow')).includes(`NodeAffinity: ${why}`) ? true : undefined,
    );
    const sysctls = [{ name: 'kernel.msgmax', value: '65536' }];
    await node.write('sysctl.json', podOf('sysctl', [runs('c')], { securityContext: { sysctls } }));
    assert.equal(
      words(await node.waitPod('sysctl', 'refused', failed)),
      'SysctlForbidden: Pod was rejected: forbidden sysctl: "kernel.msgmax" not allowlisted',
    );
    assert.deepEqual(await node.sandboxes(), []);
    await node.remove('slow.json');
    await node.remove('sysctl.json');
  });

  await t.test('AppArmor: a profile where there is none is refused', async () => {
    const confined = { securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } };
    await node.write('confined.json', podOf('confined', [runs('c')], confined));
    if (existsSync('/sys/module/apparmor/parameters/enabled')) {
      await node.waitPod('confined', 'ready', isReady);
    } else {
      assert.equal(
        words(await node.waitPod('confined', 'refused', failed)),
        'AppArmor: Pod was rejected: Cannot enforce AppArmor: AppArmor is not enabled on the host',
      );
    }
    await node.remove('confined.json');
    await node.waitGone('confined');
  });

  await t.test(
    'its own label is matched; seccompDefault filters a container that names no profile, and no other',
    async () => {
      const say = 'grep ^Seccomp: /proc/self/status; trap "exit 0" TERM; while :; do sleep 1; done';
      const unconfined = { securityContext: { seccompProfile: { type: 'Unconfined' } } };
      const containers = [shell('plain', say), shell('free', say, unconfined)];
      await node.write('fast.json', podOf('fast', containers, { nodeSelector: { disk: 'fast' } }));
      await node.waitPod('fast', 'ready', isReady);
      const mode = (container: string) =>
        waitFor(`the words of ${container}`, async () => (await node.log('fast', container))[0]);
      assert.deepEqual([await mode('plain'), await mode('free')], ['Seccomp:\t2', 'Seccomp:\t0']);
    },
  );

  await t.test('pods over maxPods are refused, and taken when there is room', async () => {
    const names = ['a', 'b', 'c', 'd'];
    for (const name of names.slice(0, 3)) {
      await node.write(`${name}.json`, podOf(name, [runs('c')]));
      await node.waitPod(name, 'ready', isReady);
    }
    await node.write('d.json', podOf('d', [runs('c')]));
    // A static pod is critical: others would have to go for it, and those that are there are static, too.
    const none = 'no set of running pods found to reclaim resources: [(res: pods, q: 1), ]';
    const problem = `preemption: error finding a set of pods to preempt: ${none}`;
    const reason = `Unexpected error while attempting to recover from admission failure: ${problem}`;
    const told = words(await node.waitPod('d', 'refused', failed));
    assert.equal(told, `UnexpectedAdmissionError: Pod was rejected: ${reason}`);
    await node.remove('a.json');
    await node.remove('d.json');
    await node.waitGone('a', 'd');
    await node.write('d.json', podOf('d', [runs('c')]));
    await node.waitPod('d', 'ready', isReady);
  });
});
