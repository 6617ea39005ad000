import assert from 'node:assert/strict';
import { chmod, readFile, readdir, readlink, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isReady } from '../../../containerd/agent/support/seen.ts';
import { podOf, shell } from '../../../containerd/agent/support/test-pod.ts';
import { TestNode } from '../../../containerd/agent/support/test-node.ts';

/**
 * agent-of-tree.ts ACTORLET: runs the agent that was installed there on a real containerd, with a static pod, where this checkout and its
 * libraries are out of sight. Run it on a machine of its own. Prints `well`.
 */
const installed = process.argv[2] ?? '';
const checkout = await realpath(join(import.meta.dirname, '../../../..'));
const libraries = await realpath(join(checkout, 'node_modules'));

const node = await TestNode.make();
try {
  const hidden = join(node.rootDir, 'hidden-checkout.sh');
  // Libraries within the checkout go with it.
  const away = libraries.startsWith(`${checkout}/`) ? [checkout] : [checkout, libraries];
  const mounts = away.map((folder) => `mount -t tmpfs tmpfs '${folder}'`).join(' && ');
  // nothing of the caller's environment names a Node or a checkout
  const clean = `exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME='${node.rootDir}' '${installed}' "$@"`;
  await writeFile(
    hidden,
    `#!/bin/sh\ncd /\nexec unshare --mount --propagation slave sh -c '${`${mounts} && ${clean}`.replaceAll("'", "'\\''")}' agent "$@"\n`,
  );
  await chmod(hidden, 0o755);
  const agent = await node.startAgent({ kubelet: hidden });
  await node.write('one.json', podOf('one', [shell('c', 'echo from the package; sleep 100000')]));
  await node.waitPod('one', 'ready', isReady);
  assert.deepEqual(await node.log('one', 'c'), ['from the package']);

  const program = await readlink(`/proc/${agent.pid}/exe`);
  assert.match(program, /\/usr\/lib\/actorlet\/node_modules\/node-linux-[a-z0-9]+\/bin\/node$/);
  const files = new Set<string>();
  for (const line of (await readFile(`/proc/${agent.pid}/maps`, 'utf8')).split('\n')) files.add(line.slice(73).trim());
  for (const fd of await readdir(`/proc/${agent.pid}/fd`))
    files.add(await readlink(`/proc/${agent.pid}/fd/${fd}`).catch(() => ''));
  const foreign = [...files].filter((file) => file.startsWith(`${checkout}/`) || file.startsWith(`${libraries}/`));
  assert.deepEqual(foreign, []);

  await node.remove('one.json');
  await node.waitGone('one');
  assert.equal((await agent.terminate()).code, 0);
  process.stdout.write('well\n');
} finally {
  await node.stop();
}
