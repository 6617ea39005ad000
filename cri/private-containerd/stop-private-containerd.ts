import { rm } from 'node:fs/promises';
import { ActorletError } from '../../machines/errors/define.ts';
import { runtimeErrors } from '../../machines/errors/runtime-errors.ts';
import { readBundles, removeCgroups, removeEmptyCgroups, removeShimSockets, runsIn } from './container-remains.ts';
import type { ContainerdLayout } from './layout.ts';
import { unmountBelow } from './mount-points.ts';
import { removeNetwork } from './network-remains.ts';
import { endProcess, findContainerd, findShims, isAlive, sendSignal } from './processes.ts';

/**
 * Ends the containerd of this layout, whoever started it, and removes all that it ran: it works from what is on disk
 * and in `/proc`, so it also cleans up after a containerd that was killed. `purge` removes its whole folder, images
 * included. Throws RTM011 naming what is left.
 */
export async function stopPrivateContainerd(
  layout: ContainerdLayout,
  options: { purge?: boolean } = {},
): Promise<void> {
  const left: string[] = [];
  const bundles = await readBundles(layout.state);
  // containerd first: it would see its containers die and start to clean up beside us
  for (let pid = await findContainerd(layout.config, layout.pidFile); pid !== null;) {
    if (!(await endProcess(pid, 3_000))) {
      left.push(`process ${pid} (containerd)`);
      break;
    }
    pid = await findContainerd(layout.config, layout.pidFile);
  }
  for (const { id, initPid } of bundles)
    if (initPid !== null && (await runsIn(initPid, id))) sendSignal(initPid, 'SIGKILL');
  const shims = await findShims(layout.socket);
  for (const pid of shims) sendSignal(pid, 'SIGKILL');
  left.push(...(await removeCgroups(bundles.flatMap(({ cgroupPath }) => cgroupPath ?? []))));
  await removeEmptyCgroups(['/k8s.io']); // where containers of a sandbox without cgroup parent go
  for (const pid of shims) if ((await isAlive(pid)) && !(await endProcess(pid, 0))) left.push(`process ${pid} (shim)`);
  await removeShimSockets(bundles);
  left.push(...(await unmountBelow(layout.dir)));
  left.push(...(await removeNetwork(layout)));

  const stillMounted = left.some((what) => what.startsWith('/'));
  if (!stillMounted) {
    // never through a mount: a container's volume would be emptied
    const gone = options.purge === true ? [layout.dir] : [layout.state, layout.socket, layout.pidFile];
    for (const path of gone) await rm(path, { recursive: true, force: true });
  }
  if (left.length > 0) throw new ActorletError(runtimeErrors.leftovers, { what: left.join(', ') });
}
