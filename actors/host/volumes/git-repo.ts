import { execFile } from 'node:child_process';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import type { VolumeSetup } from '../../../machines/protocol/effects.ts';
import { endOutputsBy } from '../files/end-outputs.ts';
import { HostFailure, ignoring } from '../files/host-failure.ts';
import type { HostSettings } from '../files/host-settings.ts';
import { emptyDirMetaDir, gitRepoMetaDir, podVolumeDir } from '../files/pod-paths.ts';
import { setUpScratchFolder } from './empty-dir.ts';
import { setVolumeOwnership, toldOwnership } from './volume-ownership.ts';

type GitRepo = Extract<VolumeSetup, { kind: 'gitRepo' }>;

/**
 * Git runs as the agent does, on what a pod has named: it asks nobody for a password, and runs no hook, which a repository can bring
 * along inside of another's `.git` (CVE-2024-10220; kubelet runs them).
 */
const ENVIRONMENT = {
  GIT_TERMINAL_PROMPT: '0',
  GIT_CONFIG_COUNT: '1',
  GIT_CONFIG_KEY_0: 'core.hooksPath',
  GIT_CONFIG_VALUE_0: '/dev/null',
  LC_ALL: 'C',
};

/**
 * Clones a repository into a scratch folder and returns its path; a clone that is ready is left as it is, what an earlier try left is
 * removed first. It ends with `signal`: the pod is to be torn down.
 */
export async function setUpGitRepo(
  podUid: string,
  volume: GitRepo,
  fsGroup: number | undefined,
  settings: HostSettings,
  signal: AbortSignal,
): Promise<string> {
  const { name } = volume;
  const dir = podVolumeDir(settings.rootDir, podUid, 'kubernetes.io~git-repo', name);
  const ready = gitRepoMetaDir(settings.rootDir, podUid, name);
  if ((await ignoring(stat(join(ready, 'ready')), 'ENOENT', 'ENOTDIR')) !== undefined) return dir;
  const metaDir = emptyDirMetaDir(settings.rootDir, podUid, `wrapped_${name}`);
  for (const left of [dir, metaDir]) await rm(left, { recursive: true, force: true });
  await setUpScratchFolder({ podUid, dir, metaDir, volume: name, medium: '', fsGroup }, settings);
  await cloneInto(dir, volume, signal);
  if (fsGroup !== undefined)
    await setVolumeOwnership(
      dir,
      fsGroup,
      false,
      settings.log,
      toldOwnership(podUid, 'kubernetes.io/git-repo', settings),
    );
  await mkdir(ready, { recursive: true, mode: 0o750 });
  await writeFile(join(ready, 'ready'), '');
  return dir;
}

async function cloneInto(dir: string, { repository, revision, directory }: GitRepo, signal: AbortSignal) {
  await git(dir, ['clone', '--', repository, ...(directory === '' ? [] : [directory])], signal);
  if (revision === '') return;
  const made = await readdir(dir);
  const [only] = made;
  const isHere = directory !== '' && normalize(directory) === '.';
  if (!isHere && (made.length !== 1 || only === undefined))
    throw new HostFailure('Volume', `unexpected directory contents: [${made.join(' ')}]`);
  const work = isHere ? dir : join(dir, only ?? '');
  await git(work, ['checkout', revision], signal);
  await git(work, ['reset', '--hard'], signal);
}

/** @throws HostFailure with the words of kubelet around git's */
function git(cwd: string, args: string[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const options = { cwd, signal, env: { ...process.env, ...ENVIRONMENT }, maxBuffer: 1 << 22 };
    const child = execFile('git', args, options, (error, stdout, stderr) => {
      if (error === null) return resolve();
      if (signal.aborted) return reject(signal.reason as Error);
      const { code } = error as { code?: unknown };
      const how =
        code === 'ENOENT'
          ? 'exec: "git": executable file not found in $PATH'
          : typeof code === 'number'
            ? `exit status ${code}`
            : 'signal: killed';
      const text = `failed to exec 'git ${args.join(' ')}': ${stdout}${stderr}: ${how}`;
      reject(new HostFailure('Volume', text, { cause: error }));
    });
    endOutputsBy(signal, child);
  });
}
