import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gitRepoSetup } from '../../../machines/volumes/git-repo-setup.ts';

const setUp = (gitRepo: { repository: string; revision?: string; directory?: string }, on = true) =>
  gitRepoSetup({ name: 'v', gitRepo }, on ? { gitRepos: true } : {});

test('without the gate GitRepoVolumeDriver a clone is refused in the words of kubelet', () => {
  assert.equal(
    setUp({ repository: 'x' }, false),
    'git-repo volume plugin has been disabled; if necessary, it may be re-enabled by enabling the feature-gate `GitRepoVolumeDriver`',
  );
});

test('with it a repository is cloned, at a revision and into a folder if they are given', () => {
  assert.deepEqual(setUp({ repository: 'https://git.example/a.git' }), {
    ...{ name: 'v', kind: 'gitRepo', repository: 'https://git.example/a.git', revision: '', directory: '' },
  });
  const whole = { repository: 'r', revision: 'v1', directory: './a' };
  assert.deepEqual(setUp(whole), { name: 'v', kind: 'gitRepo', ...whole });
  assert.ok(typeof setUp({ repository: 'r', directory: 'a/b' }) === 'object');
});

test('what git would take for an option, and folders elsewhere, are refused', () => {
  const refused = [
    [{ repository: '-x' }, '"-x" is an invalid value for repository'],
    [{ repository: 'r', revision: '--all' }, '"--all" is an invalid value for revision'],
    [{ repository: 'r', directory: '-d' }, '"-d" is an invalid value for directory'],
    [
      { repository: 'r', revision: 'v1', directory: 'a/b' },
      '"a/b" is not a valid directory, it must not contain a directory separator',
    ],
    [{ repository: '' }, 'gitRepo.repository: Required value'],
    [{ repository: 'r', directory: '/etc' }, 'gitRepo.directory: Invalid value: "/etc": must be a relative path'],
    [{ repository: 'r', directory: 'a/../..' }, 'gitRepo.directory: Invalid value: "a/../..": must not contain \'..\''],
  ] as const;
  for (const [gitRepo, words] of refused) assert.equal(setUp(gitRepo), words);
});
