import { chmod, mkdir, open, readFile, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { EffectCatalog } from '../../../machines/protocol/effects.ts';
import { expandedSubPaths } from './container-env.ts';
import { ignoring } from '../files/host-failure.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { prepareSubPath } from '../volumes/sub-path.ts';

/**
 * `host.PrepareContainer`: everything that must exist before CreateContainer. Answers with the safe path of each
 * subPath by mount key.
 */
export async function prepareContainer(
  params: EffectCatalog['host.PrepareContainer']['params'],
  settings: HostSettings,
): Promise<EffectCatalog['host.PrepareContainer']['result']> {
  await mkdir(params.logDirectory, { recursive: true, mode: 0o755 });
  await mkdir(resolve(params.logDirectory, params.containerLogDirectory), { recursive: true, mode: 0o755 });
  if (params.terminationLogPath !== '') await makeTerminationLog(params.terminationLogPath);
  if (params.hostsFile !== undefined) await writeHostsFile(params.hostsFile.path, params.hostsFile.content);
  const subPaths: Record<string, string> = {};
  for (const sub of await expandedSubPaths(params, settings.log, settings.ask)) {
    // A path in an image volume is the runtime's to find.
    subPaths[sub.key] = sub.ofImage
      ? sub.subPath
      : await prepareSubPath(sub, params.podUid, params.containerName, settings);
  }
  return { subPaths };
}

/** Empty, as each container instance starts without a message; any user of it may write, whatever the umask. */
async function makeTerminationLog(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  await (await open(path, 'w', 0o666)).close();
  await chmod(path, 0o666);
}

/** Written in place, never renamed over: running containers have this very inode bind mounted at /etc/hosts. */
async function writeHostsFile(path: string, content: string): Promise<void> {
  const old = await ignoring(readFile(path, 'utf8'), 'ENOENT');
  if (old === content) return;
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  await writeFile(path, content, { mode: 0o644 });
  await chmod(path, 0o644);
}
