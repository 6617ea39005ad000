import type { Volume } from '../protocol/api-types.ts';
import type { VolumeSetup } from '../protocol/effects.ts';
import type { NodeSettings } from '../protocol/node-settings.ts';

const NO_GIT =
  'git-repo volume plugin has been disabled; if necessary, it may be re-enabled by enabling the feature-gate `GitRepoVolumeDriver`';

/**
 * A `gitRepo` volume (deprecated by the API, feature gate GitRepoVolumeDriver): a clone at a revision. A string: why not. What git would
 * take for an option, and a folder that lies elsewhere, are refused in the words of kubelet and of the API server, which no static pod
 * has passed.
 */
export function gitRepoSetup(
  { name, gitRepo }: Pick<Volume, 'name' | 'gitRepo'>,
  settings: Pick<NodeSettings, 'gitRepos'>,
): VolumeSetup | string {
  if (!settings.gitRepos) return NO_GIT;
  const { repository = '', revision = '', directory = '' } = gitRepo ?? {};
  for (const [what, value] of Object.entries({ repository, revision, directory }))
    if (value.startsWith('-')) return `${JSON.stringify(value)} is an invalid value for ${what}`;
  if (repository === '') return 'gitRepo.repository: Required value';
  if (directory.startsWith('/'))
    return `gitRepo.directory: Invalid value: ${JSON.stringify(directory)}: must be a relative path`;
  const parts = directory.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..'))
    return `gitRepo.directory: Invalid value: ${JSON.stringify(directory)}: must not contain '..'`;
  if (revision !== '' && (parts.length > 1 || directory.includes('\\')))
    return `${JSON.stringify(directory)} is not a valid directory, it must not contain a directory separator`;
  return { name, kind: 'gitRepo', repository, revision, directory };
}
