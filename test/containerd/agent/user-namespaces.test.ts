import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuntimeServiceService } from '../../../cri/generated/runtime/v1/api.ts';
import { lacksTool, referenceTool } from '../../tools/reference-tool.ts';
import { isReady } from './support/seen.ts';
import { podOf, shell } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';

test(
  'hostUsers: false on containerd v2 (KEP-127): ids of its own, or a refusal where runc has no id-mapped mounts',
  { skip: await lacksTool('containerd2') },
  async () => {
    const node = await TestNode.make({ containerd: { containerd: await referenceTool('containerd2') } });
    try {
      await node.startAgent();
      const { runtimeHandlers } = await node.containerd.cri.call(RuntimeServiceService.status, { verbose: false });
      const able = runtimeHandlers.find((h) => h.name === '')?.features?.userNamespaces === true;
      const script = 'cat /proc/self/uid_map; stat -c %u /v; trap "exit 0" TERM; while :; do sleep 1; done';
      const container = shell('c', script, { volumeMounts: [{ name: 'v', mountPath: '/v' }] });
      const more = { hostUsers: false, volumes: [{ name: 'v', emptyDir: {} }] };
      await node.write('own.json', podOf('own', [container], more));
      if (able) {
        await node.waitPod('own', 'ready', isReady);
        const log = await waitFor('its words', async () => {
          const lines = await node.log('own', 'c');
          return lines.length >= 2 ? lines : undefined;
        });
        assert.deepEqual(log[0]?.trim().split(/\s+/), ['0', '65536', '65536']);
        assert.equal(log[1], '0', 'an id-mapped volume belongs to root');
      } else {
        // runc before 1.2
        const refused =
          "FailedCreatePodSandBox: Failed to create pod sandbox: can't set `spec.hostUsers: false`, runtime does not support user namespaces";
        await waitFor('the refusal', async () => ((await node.events('own')).includes(refused) ? true : undefined));
        assert.deepEqual(await node.sandboxes(), []);
      }
      await node.remove('own.json');
      await node.waitGone('own');
    } finally {
      await node.stop();
    }
  },
);
