/** A machine that shuts down: real containers end group by group, over a real message bus with a logind. */
import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { waitFor } from '../../tools/wait-for.ts';
import { lacksBus, PrivateBus } from '../../simulated/shutdown/support/private-bus.ts';
import { TestNode } from '../agent/support/test-node.ts';
import { podOf, shell } from '../agent/support/test-pod.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';

const skip = await lacksBus();
const CRITICAL = 2_000_001_000;

/** Writes when it begins, when it is told to end, and, two seconds later, that it does. */
const tells = (name: string): string =>
  `say() { echo "$1 ${name}" >> /out/lines; }; say began; trap 'say told; sleep 2; say ended; exit 0' TERM; while :; do sleep 1; done`;

test(
  'pods end group by group, the lock is given back after the last, and static pods come back with the next agent',
  { skip },
  async (t) => {
    const clean = await machineState();
    const out = await mkdtemp(join(tmpdir(), 'actorlet-groups-'));
    const bus = await PrivateBus.start(t, 120);
    const groups = [
      { priority: 0, shutdownGracePeriodSeconds: 30 },
      { priority: 1_000, shutdownGracePeriodSeconds: 20 },
      { priority: 2_000_000_000, shutdownGracePeriodSeconds: 10 },
    ];
    const node = await TestNode.make({ config: { shutdownGracePeriodByPodPriority: groups } });
    t.after(async () => {
      await node.stop();
      await rm(out, { recursive: true, force: true });
      await assertNothingLeft(clean);
    });
    const lines = async (): Promise<string[]> =>
      (await readFile(join(out, 'lines'), 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
    const said = (line: string, times = 1) =>
      waitFor(
        line,
        async () => ((await lines()).filter((one) => one === line).length >= times ? true : undefined),
        async () => `${(await lines()).join('\n')}\n${String(node.agent.tail())}`,
      );
    for (const [name, priority] of [
      ['low', -5],
      ['plain', 0],
      ['better', 5_000],
      ['critical', CRITICAL],
    ] as const) {
      const mounts = { volumeMounts: [{ name: 'out', mountPath: '/out' }] };
      const volumes = [{ name: 'out', hostPath: { path: out } }];
      const pod = podOf(name, [shell('c', tells(name), mounts)], {
        priority,
        volumes,
        terminationGracePeriodSeconds: 60,
      });
      await node.write(`${name}.json`, pod);
    }
    process.env['DBUS_SYSTEM_BUS_ADDRESS'] = `unix:path=${bus.socket}`;
    await node.startAgent();
    await bus.tells(/^locked 1 shutdown\|kubelet\|/);
    for (const name of ['low', 'plain', 'better', 'critical']) await said(`began ${name}`);
    await bus.order('prepare');
    await said('ended critical');
    await bus.tells('released 1');

    const order = (await lines()).filter((line) => !line.startsWith('began'));
    assert.equal(order.length, 8, order.join());
    assert.deepEqual(order.slice(4), ['told better', 'ended better', 'told critical', 'ended critical']);
    assert.deepEqual(order.slice(0, 4).sort(), ['ended low', 'ended plain', 'told low', 'told plain']);
    assert.ok(
      order.slice(2, 4).every((line) => line.startsWith('ended')),
      `both of the lowest group at once: ${order.join()}`,
    );
    const running = (await node.containers()).filter((container) => container.running);
    assert.deepEqual(running, []);

    // What a boot does, but for the machine: logind knows of no shutdown, and the agent is another one.
    await node.agent.kill();
    await bus.down();
    await bus.up();
    await node.startAgent();
    for (const name of ['low', 'plain', 'better', 'critical']) await said(`began ${name}`, 2);
  },
);
