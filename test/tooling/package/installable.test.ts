import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';

const checkout = join(import.meta.dirname, '..', '..', '..');
const shipped = [
  'machines',
  'cri',
  'actors',
  'bin',
  'docs',
  'README.md',
  'LICENSE',
  'package.json',
  'package-lock.json',
  '.npmrc',
];
const buildOnly = ['tsconfig.json', 'tsconfig.build.json'];

/** `npm pack` in a copy of the checkout, then an install of the tarball in an empty folder. */
describe('the npm package', () => {
  const work = mkdtempSync(join(tmpdir(), 'actorlet-package-'));
  const source = join(work, 'source');
  const home = join(work, 'empty');
  const installed = join(home, 'node_modules', 'actorlet');
  // What a person has: not the Node of this checkout in front of the path, no CI settings.
  const env = { ...process.env, PATH: withoutOurNode(process.env['PATH'] ?? ''), npm_config_update_notifier: 'false' };

  function run(cwd: string, command: string, ...args: string[]): string {
    const done = spawnSync(command, args, { cwd, env, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
    assert.equal(
      done.status,
      0,
      `${command} ${args.join(' ')}\n${done.stdout ?? ''}\n${done.stderr ?? ''}${String(done.error ?? '')}`,
    );
    return done.stdout;
  }

  before(() => {
    mkdirSync(source);
    mkdirSync(home);
    for (const name of [...shipped, ...buildOnly]) {
      if (existsSync(join(checkout, name))) cpSync(join(checkout, name), join(source, name), { recursive: true });
    }
    symlinkSync(join(checkout, 'node_modules'), join(source, 'node_modules'));
    run(source, 'npm', 'pack', '--pack-destination', work);
    const tarball = readdirSync(work).find((name) => name.endsWith('.tgz'));
    assert.ok(tarball, 'npm pack made no tarball');
    writeFileSync(join(home, 'package.json'), '{ "name": "empty", "private": true, "type": "module" }\n');
    run(home, 'npm', 'install', '--prefer-offline', '--no-audit', '--no-fund', join(work, tarball));
  });
  after(() => rmSync(work, { recursive: true, force: true }));

  it('holds compiled JavaScript with types, and no source, test or tool', () => {
    const files = readdirSync(installed, { recursive: true, encoding: 'utf8' }).filter(
      (name) => !name.startsWith('node_modules'),
    );
    assert.ok(files.includes('dist/machines/errors/define.js'));
    assert.ok(files.includes('dist/machines/errors/define.d.ts'));
    assert.ok(files.includes('dist/bin/library.js'));
    const strays = files.filter(
      (name) =>
        // Examples are documentation.
        (name.endsWith('.ts') && !name.endsWith('.d.ts') && !name.startsWith('docs/examples/')) ||
        name.startsWith('test') ||
        name === 'bin/test',
    );
    assert.deepEqual(strays, []);
  });

  it('imports no .ts file from compiled code', () => {
    const dist = join(installed, 'dist');
    const scripts = readdirSync(dist, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));
    assert.ok(scripts.length > 50, `${scripts.length} scripts`);
    const offenders = scripts.filter((name) =>
      /(?:from|import)\s*\(?\s*['"]\.[^'"]*\.ts['"]|new URL\(['"]\.[^'"]*\.ts['"]/.test(
        readFileSync(join(dist, name), 'utf8'),
      ),
    );
    assert.deepEqual(offenders, []);
  });

  it('finds beside the compiled code what the sources read beside themselves', () => {
    const missing = ['machines', 'cri', 'actors'].flatMap((room) =>
      readdirSync(join(source, room), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
        .map((entry) => join(entry.parentPath, entry.name).slice(source.length + 1))
        // The page is there as a bundle.
        .filter((file) => !file.startsWith('actors/inspect/inspector-page/'))
        .filter((file) => !existsSync(join(installed, 'dist', file))),
    );
    assert.deepEqual(missing, []);
    for (const file of ['index.html', 'app.js', 'app.css'])
      assert.ok(existsSync(join(installed, 'dist/inspector-page', file)), file);
  });

  it('holds each thread and process that the sources start, bundled', () => {
    const started = readdirSync(join(source, 'actors'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => {
        const text = readFileSync(join(source, 'actors', name), 'utf8');
        const found = [...text.matchAll(/new URL\(`\.\/([\w-]+)\$\{extname\(import\.meta\.url\)\}`/g)];
        return found.map(([, entry]) => join('actors', dirname(name), `${entry}.js`));
      });
    assert.ok(started.length >= 6, String(started));
    for (const file of [...started, 'bin/actorlet.js'])
      assert.ok(existsSync(join(installed, 'dist/bundled', file)), `${file}: name it in bin/bundle.ts`);
  });

  it('runs: npx actorlet --version', () => {
    const { version } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8')) as { version: string };
    assert.match(run(home, 'npx', '--no-install', 'actorlet', '--version'), new RegExp(version.replaceAll('.', '\\.')));
  });

  it('can be imported', () => {
    const script = `import { ActorletError, defineErrors } from 'actorlet/machines/errors/define';
      const e = new ActorletError(defineErrors('X', { y: [1, 'What {a}.', 'Do.'] }).y, { a: 'b' });
      console.log(e.message);`;
    writeFileSync(join(home, 'use.mjs'), script);
    assert.equal(run(home, process.execPath, 'use.mjs').trim(), 'X001: What b. Do.');
    writeFileSync(
      join(home, 'node.mjs'),
      "import { startEmbeddedNode } from 'actorlet'; console.log(typeof startEmbeddedNode);",
    );
    assert.equal(run(home, process.execPath, 'node.mjs').trim(), 'function');
  });

  it('type-checks in a strict project', () => {
    writeFileSync(
      join(home, 'use.ts'),
      `import { ActorletError, type ErrorSpec } from 'actorlet/machines/errors/define';
import { allErrors } from 'actorlet/machines/errors/registry';
import type { Pod } from 'actorlet/machines/protocol/api-types';
export const first: ErrorSpec | undefined = allErrors[0];
export const code: string = new ActorletError({ code: 'X', message: '', cure: '' }).code;
export const name = (pod: Pod): string | undefined => pod.metadata?.name;
// Proof that the types are really read, and through the imports of the declarations too.
// @ts-expect-error a code is a string
export const wrong: number = new ActorletError({ code: 'X', message: '', cure: '' }).code;
// @ts-expect-error a code is a string
export const wrongToo: number | undefined = allErrors[0]?.code;
// @ts-expect-error a name is a string
export const wrongName = (pod: Pod): number | undefined => pod.metadata?.name;
`,
    );
    const compiler = join(checkout, 'node_modules/typescript/bin/tsc');
    const compilerOptions = {
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      target: 'es2024',
      module: 'nodenext',
      types: [],
    };
    writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }));
    run(home, process.execPath, compiler, '-p', '.');
  });
});

/** `PATH` without the folders that bring this checkout's own Node 24. */
function withoutOurNode(path: string): string {
  const own = dirname(process.execPath);
  return path
    .split(':')
    .filter((folder) => folder !== own && !folder.startsWith(join(checkout, 'node_modules')))
    .join(':');
}
