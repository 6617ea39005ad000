import { access, constants, readdir } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemPath } from '../../cri/private-containerd/run-command.ts';

/** Programs of a control plane. */
export type ControlPlaneProgram = 'etcd' | 'kube-apiserver' | 'kube-controller-manager' | 'kube-scheduler';

const ALL: readonly ControlPlaneProgram[] = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kube-scheduler'];

/** Where each program is, and which are nowhere. `folders`: what was looked through. */
export interface FoundPrograms {
  paths: Map<ControlPlaneProgram | 'kubectl', string>;
  missing: ControlPlaneProgram[];
  folders: string[];
}

/**
 * Looks for a control plane's programs, and for kubectl: in the folder that was named, in `KUBEBUILDER_ASSETS` (of controller-runtime's
 * envtest), in PATH, where kubebuilder puts them, and among what `test/tools/build.sh` has built, newest version first.
 */
export async function findPrograms(
  binDir: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Promise<FoundPrograms> {
  const assets = env['KUBEBUILDER_ASSETS'] ?? '';
  const folders = [
    ...(binDir === undefined ? [] : [binDir]),
    ...(assets === '' ? [] : [assets]),
    ...systemPath(env['PATH']).split(':'),
    '/usr/local/kubebuilder/bin',
  ];
  const built = join(
    env['ACTORLET_CACHE'] ?? join(env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'actorlet'),
    'tools',
  );
  const versions = await readdir(built).catch(() => []);
  const paths: FoundPrograms['paths'] = new Map();
  for (const name of [...ALL, 'kubectl'] as const) {
    const own = versions
      .filter((folder) => folder.startsWith(`${name}-`) && /^\d/.test(folder.slice(name.length + 1)))
      .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }));
    for (const folder of [...folders, ...own.map((version) => join(built, version))]) {
      const path = join(folder, name);
      if (!(await canRun(path))) continue;
      paths.set(name, path);
      break;
    }
  }
  return { paths, missing: ALL.filter((name) => !paths.has(name)), folders: [...folders, built] };
}

function canRun(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
