import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { isReady, restartsOf, statusOf } from './support/seen.ts';
import { podOf, runs } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';

describe('manifests on a real node', { concurrency: 4 }, () => {
  let clean: MachineState;
  let node: TestNode;
  before(async () => {
    clean = await machineState();
    node = await TestNode.make();
    await node.startAgent();
  });
  after(async () => {
    await node.stop();
    await assertNothingLeft(clean);
  });

  it('runs the edited pod anew and leaves the others alone', async () => {
    await node.write('edited.json', podOf('edited', [runs('a')]));
    await node.write('untouched.json', podOf('untouched', [runs('a'), runs('b')]));
    const first = await node.waitPod('edited', 'ready', isReady);
    await node.waitPod('untouched', 'ready', isReady);
    const before = { edited: await node.running('edited'), untouched: await node.running('untouched') };

    await node.write('edited.json', podOf('edited', [runs('a', { env: [{ name: 'NEW', value: '1' }] })]));
    // a static pod's UID is a hash of its manifest: an edited one is another pod
    const second = await node.waitPod(
      'edited',
      'another pod, ready',
      (p) => isReady(p) && p.metadata?.uid !== first.metadata?.uid,
    );
    const id = (await node.running('edited'))['a'] ?? '';
    assert.notEqual(id, before.edited['a']);
    assert.deepEqual(restartsOf(second), { a: 0 });
    const env = await node.containerd.cri.exec(id, ['sh', '-c', 'echo "$NEW"']);
    assert.equal(env.out, '1\n');
    assert.deepEqual(await node.running('untouched'), before.untouched);
    assert.equal((await node.containers('untouched')).length, 2);
    assert.equal((await node.sandboxes()).filter((s) => s.metadata?.uid === first.metadata?.uid).length, 0);
  });

  it('restarts one changed container of a pod that keeps its UID, and keeps the sandbox and the others', async () => {
    const uid = '11111111-2222-4333-8444-555555555555';
    const manifest = (image: string) => podOf('kept', [runs('stays'), runs('changes', { image })], {}, { uid });
    await node.write('kept.json', manifest('localhost/actorlet/busybox:1'));
    await node.waitPod('kept', 'ready', isReady);
    const before = await node.running('kept');
    const sandbox = (await node.sandboxes()).find((s) => s.metadata?.uid === uid);

    await node.write('kept.json', manifest('localhost/actorlet/pause:1'));
    const pod = await node.waitPod(
      'kept',
      'restarted container',
      (p) => isReady(p) && statusOf(p, 'changes').restartCount === 1,
    );
    const now = await node.running('kept');
    assert.equal(now['stays'], before['stays']);
    assert.notEqual(now['changes'], before['changes']);
    assert.deepEqual(restartsOf(pod), { stays: 0, changes: 1 });
    assert.match(statusOf(pod, 'changes').image ?? '', /pause:1$/);
    assert.deepEqual(
      (await node.sandboxes()).filter((s) => s.metadata?.uid === uid).map((s) => [s.id, s.state]),
      [[sandbox?.id, 0]],
    );
    const events = await node.events('kept');
    assert.ok(events.includes('Killing: Container changes definition changed, will be restarted'), events.join('\n'));
  });

  it('runs the good ones beside a bad manifest, and names its file and field', async () => {
    await node.write(
      'bad.yaml',
      'apiVersion: v1\nkind: Pod\nmetadata: {name: bad}\nspec: {containers: [{name: "Not A Name", image: x}]}\n',
    );
    await node.write('torn.yaml', 'apiVersion: v1\nkind: Pod\nmetadata: {name: [\n');
    await node.write('good.json', podOf('good', [runs('a')]));
    await node.waitPod('good', 'ready beside bad ones', isReady);
    const errors = await waitFor('an error for each bad file', async () => {
      const lines = (await node.agentLog()).map((l) => JSON.stringify(l)).filter((l) => /Pod source/.test(l));
      const of = (file: string) => lines.filter((l) => l.includes(file));
      return of('bad.yaml').length > 0 && of('torn.yaml').length > 0
        ? { bad: of('bad.yaml'), torn: of('torn.yaml') }
        : undefined;
    });
    assert.match(errors.bad[0] ?? '', /spec\.containers\[0\]\.name/);
    assert.equal(await node.pod('bad'), undefined);

    // repaired: it runs, and the good one is not touched
    const before = await node.running('good');
    await node.write('bad.yaml', JSON.stringify(podOf('bad', [runs('a')])));
    await node.remove('torn.yaml');
    await node.waitPod('bad', 'ready once repaired', isReady);
    assert.deepEqual(await node.running('good'), before);
  });

  it('runs three documents of one file and the pods of a PodList, and what is taken out ends alone', async () => {
    const three = ['one', 'two', 'three'].map((n) => podOf(`doc-${n}`, [runs('a')]));
    await node.write('three.yaml', three.map((d) => JSON.stringify(d)).join('\n---\n'));
    const items = ['one', 'two'].map((n) => podOf(`item-${n}`, [runs('a')]));
    await node.write('list.json', { apiVersion: 'v1', kind: 'PodList', items });
    const names = ['doc-one', 'doc-two', 'doc-three', 'item-one', 'item-two'];
    for (const name of names) await node.waitPod(name, 'ready', isReady);
    const before = await Promise.all(names.map((n) => node.running(n)));

    await node.write('three.yaml', [three[0], three[2]].map((d) => JSON.stringify(d)).join('\n---\n'));
    await node.waitGone('doc-two');
    const after = await Promise.all(names.map((n) => node.running(n)));
    assert.deepEqual(after[1], {});
    for (const i of [0, 2, 3, 4]) assert.deepEqual(after[i], before[i]);
  });
});
