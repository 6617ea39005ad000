/**
 * Makes `dist/bundled` of a built `dist`: each program of the agent (the command, its worker threads, its helper processes) in one file with
 * what it loads at first, and what several of them share once, under `chunks`. `node bin/bundle.ts DIST`; `bin/build` calls it.
 *
 * An agent that reads a few files starts with half the work of one that looks for a thousand, and each thread keeps less memory. Beside each file
 * stands what the log needs to name the module and the line that a message is from (`FILE.lines.json`, see actors/record/logging/call-site.ts);
 * maps for stack traces would cost each process 20 MiB. Packages that look for files of their own beside themselves are left as they are.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { SourceMap } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { Plugin } from 'esbuild';

/** What is started by its path, seen from `dist`. */
const PROGRAMS = [
  'bin/actorlet.js',
  'actors/pods/shard/shard-worker.js',
  'actors/pods/sources/parse-worker.js',
  'actors/host/strange/helper-process.js',
  'actors/cluster/certificates/x509-process.js',
  'actors/record/journal/replay-worker.js',
  'actors/inspect/inspector/inspector-worker.js',
];
/** These start threads by the paths of their own files, or load by names that are made up at run time. */
const AS_THEY_ARE = ['piscina', 'pino', 'dbus-native', '@peculiar/x509'];
/**
 * Packages that others load or name at once and hardly ever use: each is a file of its own, loaded when something of it is asked for, so that no
 * thread keeps their text. fastify checks schemas and answers requests of tests by the first three (there are none), grpc-js describes itself by
 * the next, and fastify compares versions of plugins by the last, which it loads at once.
 */
const HARDLY_USED = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  'light-my-request',
  '@grpc/proto-loader',
  'semver',
];
/** Modules that read files that stand in `dist` once. */
const READS_DIST = 'actors/inspect/inspector/page-files.js';

const [given] = process.argv.slice(2);
if (given === undefined) {
  process.stderr.write('usage: node bin/bundle.ts DIST\n');
  process.exit(1);
}
const dist = resolve(given);

/** A module finds what it starts and reads by its own place; in a bundle that is still the place of the module, not of the file it went into. */
const ownPlaces: Plugin = {
  name: 'own-places',
  setup(esbuild) {
    esbuild.onLoad({ filter: /\.js$/ }, async ({ path }) => {
      const place = relative(dist, path);
      if (place.startsWith('..')) return undefined;
      const code = await readFile(path, 'utf8');
      const own = place === READS_DIST ? place : `bundled/${place}`;
      const url = `import.meta.url.replace(/\\/bundled\\/.*$/, ${JSON.stringify(`/${own}`)})`;
      return { contents: code.replaceAll('import.meta.url', url), loader: 'js' };
    });
  },
};

/** Where a package of {@link HARDLY_USED} stands, below `dist/bundled`. */
const laterFile = (name: string): string => `later/${name.replaceAll(/[@/]/g, '-').replace(/^-/, '')}.cjs`;

const hardlyUsed: Plugin = {
  name: 'hardly-used',
  setup(esbuild) {
    esbuild.onResolve({ filter: /^[@a-z]/ }, ({ path, kind }) =>
      HARDLY_USED.includes(path) && kind !== 'entry-point' ? { path, namespace: 'later' } : undefined,
    );
    esbuild.onLoad({ filter: /./, namespace: 'later' }, ({ path }) => {
      const load = `laterOfBundle(${JSON.stringify(`./${laterFile(path)}`)})`;
      const contents =
        path === 'semver'
          ? `module.exports = new Proxy({}, { get: (_none, name) => ${load}[name] });`
          : `module.exports = ${load};`;
      return { contents, loader: 'js' };
    });
  },
};

/** The texts of errors in fifty languages: all but English are left out. */
const oneLanguage: Plugin = {
  name: 'one-language',
  setup(esbuild) {
    esbuild.onLoad({ filter: /\/zod\/v4\/locales\/index\.js$/ }, () => ({
      contents: "export { default as en } from './en.js';",
      loader: 'js',
    }));
  },
};

const inNode = { bundle: true, platform: 'node', target: 'node24', minifySyntax: true, logLevel: 'warning' } as const;
for (const name of HARDLY_USED)
  await build({
    ...inNode,
    entryPoints: [fileURLToPath(import.meta.resolve(name, import.meta.url))],
    outfile: join(dist, 'bundled', laterFile(name)),
    format: 'cjs',
    absWorkingDir: dist,
    legalComments: 'linked',
  });

const { metafile } = await build({
  ...inNode,
  entryPoints: PROGRAMS.map((program) => join(dist, program)),
  outbase: dist,
  // Names of modules are in the files: the same bytes wherever the folder stands.
  absWorkingDir: dist,
  outdir: join(dist, 'bundled'),
  chunkNames: 'chunks/[name]-[hash]',
  splitting: true,
  format: 'esm',
  external: AS_THEY_ARE,
  // The folder may stand anywhere.
  nodePaths: [resolve(import.meta.dirname, '../node_modules')],
  plugins: [ownPlaces, hardlyUsed, oneLanguage],
  // Packages in CommonJS ask for Node's own modules by this name.
  banner: {
    js: [
      "import { createRequire as requireOfBundle } from 'node:module';",
      'const require = requireOfBundle(import.meta.url);',
      "const laterOfBundle = (file) => requireOfBundle(import.meta.url.replace(/\\/bundled\\/.*$/, '/bundled/'))(file);",
    ].join('\n'),
  },
  sourcemap: 'external',
  sourcesContent: false,
  metafile: true,
  legalComments: 'linked',
});

for (const output of Object.keys(metafile.outputs)) if (output.endsWith('.map')) await writeLines(join(dist, output));

/** Makes `FILE.lines.json` of a map, and removes the map: runs of lines, each `[first line, module, its line there]`; only of our own modules. */
async function writeLines(map: string): Promise<void> {
  const file = map.replace(/\.map$/, '');
  const payload = JSON.parse(await readFile(map, 'utf8')) as ConstructorParameters<typeof SourceMap>[0];
  const entries = new SourceMap(payload);
  const modules: string[] = [];
  const runs: [number, number, number][] = [];
  for (const [index, text] of (await readFile(file, 'utf8')).split('\n').entries()) {
    const found = entries.findEntry(index, text.length - text.trimStart().length);
    if (!('originalSource' in found) || typeof found.originalSource !== 'string' || found.generatedLine !== index)
      continue;
    const module = relative(dist, resolve(dirname(map), found.originalSource));
    if (module.startsWith('..')) continue;
    if (!modules.includes(module)) modules.push(module);
    const run = [index + 1, modules.indexOf(module), found.originalLine + 1] as const;
    const last = runs.at(-1);
    if (last?.[1] === run[1] && run[0] - last[0] === run[2] - last[2]) continue;
    runs.push([...run]);
  }
  if (modules.length > 0) await writeFile(`${file}.lines.json`, JSON.stringify({ modules, runs }));
  await rm(map);
}
