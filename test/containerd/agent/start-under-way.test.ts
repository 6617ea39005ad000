import assert from 'node:assert/strict';
import { chmod, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { findProgram } from '../../../cri/private-containerd/binaries.ts';
import { assertNothingLeft, machineState } from '../support/machine-state.ts';
import type { MachineState } from '../support/machine-state.ts';
import { isReady, restartsOf } from './support/seen.ts';
import { podOf, runs, shell } from './support/test-pod.ts';
import { TestNode } from './support/test-node.ts';
import { waitFor } from '../../tools/wait-for.ts';

/** containerd's words to an agent that wants to start what another call is starting. */
const UNDER_WAY = /StartContainer for .* failed.*container is already in starting state/g;

describe('an agent killed while containerd starts a container for it', { concurrency: false }, () => {
  let clean: MachineState;
  let folder: string;
  let node: TestNode;
  const path = process.env['PATH'];
  before(async () => {
    clean = await machineState();
    folder = await mkdtemp(join(tmpdir(), 'gate-'));
    await slowRunc(folder);
    process.env['PATH'] = `${folder}:${path ?? ''}`;
    node = await TestNode.make();
  });
  after(async () => {
    process.env['PATH'] = path;
    await rm(join(folder, 'gate'), { force: true });
    await node.stop();
    await rm(folder, { recursive: true, force: true });
    await assertNothingLeft(clean);
  });

  it('the next one waits for that start: no second container is made beside it, no restart is counted', async () => {
    await node.startAgent();
    await writeFile(join(folder, 'gate'), '');
    await node.write('p.json', podOf('p', [runs('a')], { initContainers: [shell('first', 'sleep 0.2')] }));
    await waitFor('the start', async () => ((await readdir(folder)).includes('waits') ? true : undefined));
    await node.agent.kill();
    await node.startAgent();
    // so often that an agent which lost patience would have made another one by now
    await waitFor(
      'its asking for that start',
      async () => ((await containerdLog()).match(UNDER_WAY)?.length ?? 0) >= 6 || undefined,
      async () => `${await node.agent.tail()}\n${(await containerdLog()).slice(-3_000)}`,
    );
    assert.deepEqual(
      (await node.containers('p')).map(({ name, attempt }) => [name, attempt]),
      [['first', 0]],
    );
    await rm(join(folder, 'gate'));
    const pod = await node.waitPod('p', 'ready', isReady);
    assert.deepEqual(restartsOf(pod), { first: 0, a: 0 });
    assert.doesNotMatch(await containerdLog(), /starting state, can't be removed/);
    await node.agent.terminate();
  });

  async function containerdLog(): Promise<string> {
    const dir = join(node.rootDir, 'containerd');
    const logs = (await readdir(dir)).filter((name) => name.endsWith('.log'));
    return (await Promise.all(logs.map((name) => readFile(join(dir, name), 'utf8')))).join('');
  }
});

/** A runc in front of the machine's own: it starts no container of a pod (sandboxes apart) while the file `gate` is there. */
async function slowRunc(folder: string): Promise<void> {
  const real = await findProgram('runc');
  assert.ok(real !== null);
  const script = `#!/bin/sh
verb= bundle= last= before=
for each in "$@"; do
  case "$each" in create | start) [ -n "$verb" ] || verb=$each ;; esac
  [ "$before" != --bundle ] || bundle=$each
  before=$each last=$each
done
if [ "$verb" = create ] && grep -q '"io.kubernetes.cri.container-type":"container"' "$bundle/config.json"; then
  touch ${folder}/is-$last
fi
if [ "$verb" = start ] && [ -e ${folder}/is-$last ]; then
  while [ -e ${folder}/gate ]; do touch ${folder}/waits; sleep 0.05; done
fi
exec ${real} "$@"
`;
  await writeFile(join(folder, 'runc'), script);
  await chmod(join(folder, 'runc'), 0o755);
}
