import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { expandedSubPaths, withEnvironment } from '../../../actors/host/effects/container-env.ts';
import { MAX_ENV_FILE_BYTES, readEnvFiles } from '../../../actors/host/effects/env-files.ts';
import { fileKey } from '../../../machines/container-config/resolve-env.ts';
import type { ContainerPreparation, EffectCatalog, EnvPlan, EnvStep } from '../../../machines/protocol/effects.ts';
import { memoryLog } from '../journal/journal-fixture.ts';

type FileStep = Extract<EnvStep, { step: 'file' }>;
const MARK = 'hunter2';
const UNREADABLE = { code: 'CreateContainerConfigError', message: "couldn't parse env file" };

/** A volume on disk, and what a plan makes of its files. */
function volume(t: TestContext) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'env-files-')));
  t.after(() => rmSync(root, { recursive: true }));
  const { log, lines } = memoryLog();
  const file = (path: string, key: string, optional = false): FileStep => {
    return { step: 'file', name: key, volumePath: root, path, key, optional };
  };
  const planOf = (...steps: EnvStep[]): EnvPlan => {
    return { namespace: 'ns', serviceLinks: true, steps, command: ['$(A)'], args: [] };
  };
  type Create = EffectCatalog['cri.CreateContainer']['params'];
  return {
    root,
    lines,
    file,
    planOf,
    log,
    write: (name: string, text: string) => writeFileSync(join(root, name), text),
    found: async (step: FileStep) => (await readEnvFiles(planOf(step), log)).get(fileKey(step)),
    create: async (...steps: EnvStep[]) => {
      const params = {
        podSandboxId: 's',
        config: { envs: [] },
        sandboxConfig: {},
        env: planOf(...steps),
      } as unknown as Create;
      const { config } = await withEnvironment(params, log, undefined);
      return { envs: Object.fromEntries(config.envs.map(({ key, value }) => [key, value])), command: config.command };
    },
  };
}

test('a container gets what the file says when it is made, not what it said before', async (t) => {
  const { write, create, file } = volume(t);
  write('env', "A='one'\nB='two'\n");
  assert.deepEqual(await create(file('env', 'A'), file('env', 'B')), {
    envs: { A: 'one', B: 'two' },
    command: ['one'],
  });
  write('env', "A='three'\n");
  assert.deepEqual(await create(file('env', 'A'), file('env', 'B', true)), {
    envs: { A: 'three' },
    command: ['three'],
  });
});

test('a key that is missing, with the path that the link led to', async (t) => {
  const { root, write, create, file } = volume(t);
  mkdirSync(join(root, 'real'));
  write('real/env', "B='x'");
  symlinkSync('/real/env', join(root, 'env'));
  await assert.rejects(create(file('env', 'A')), {
    code: 'CreateContainerConfigError',
    message: `environment variable key "A" not found in file "${root}/real/env"`,
  });
});

test('no file, a folder, a bad file: kubelet’s words, also for an optional variable; the log says why', async (t) => {
  const { root, write, create, file, lines } = volume(t);
  mkdirSync(join(root, 'folder'));
  write('bad', `A='${MARK}'\nB=${MARK}\n`);
  const whys: Record<string, RegExp> = {
    none: /ENOENT/,
    folder: /is not a regular file/,
    bad: /at line 2: value must be enclosed in single quotes/,
  };
  for (const [path, why] of Object.entries(whys)) {
    for (const optional of [false, true]) {
      await assert.rejects(create(file(path, 'B', optional)), UNREADABLE, path);
      const said = lines.pop() ?? '';
      assert.match(said, /Failed to parse env file/);
      assert.match(said, why);
      assert.ok(said.includes(join(root, path)));
      assert.ok(!said.includes(MARK));
    }
  }
  assert.deepEqual((await create(file('bad', 'A'))).envs, { A: MARK });
});

test('a huge file is read no further than to the limit, and not at all beyond what is wanted', async (t) => {
  const { root, write, found, file } = volume(t);
  const lines = "B='x'\n".repeat(MAX_ENV_FILE_BYTES / 6);
  write('long', `A='x'\n${lines}C='x'\n`);
  const missing = await found(file('long', 'C'));
  assert.ok(missing !== undefined && !(missing instanceof Error));
  assert.match(missing.fault ?? '', /the file is longer than 16777216 bytes/);
  // A hole of a terabyte: only its first line is looked at.
  write('sparse', "A='x'\n");
  truncateSync(join(root, 'sparse'), 2 ** 40);
  assert.deepEqual(await found(file('sparse', 'A')), { path: join(root, 'sparse'), values: new Map([['A', 'x']]) });
  assert.match(JSON.stringify(await found(file('sparse', 'B'))), /a line is longer than 65535 bytes/);
});

test('subPathExpr is expanded from files, too', async (t) => {
  const { write, file, planOf, log } = volume(t);
  write('env', "A='inner'");
  const sub = { key: 'v/c/0', volumePath: '/v', readOnly: false };
  const given = { subPaths: [{ ...sub, subPath: 'x/$(A)', expand: true }], env: planOf(file('env', 'A')) };
  const made = await expandedSubPaths(given as ContainerPreparation, log, undefined);
  assert.deepEqual(made, [{ ...sub, subPath: 'x/inner' }]);
});
