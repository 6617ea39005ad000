/**
 * Builds the inspector's page: `node bin/build-page.ts FOLDER` makes app.js, app.css and index.html there. `bin/build` calls
 * it for a package; in a checkout the inspector does, when the page is first asked for.
 */
import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build } from 'esbuild';

const [folder] = process.argv.slice(2);
if (folder === undefined) {
  process.stderr.write('usage: node bin/build-page.ts FOLDER\n');
  process.exit(1);
}
const out = resolve(folder);
const source = join(import.meta.dirname, '../actors/inspect/inspector-page');
mkdirSync(out, { recursive: true });

const bundle = async (entry: string): Promise<void> => {
  await build({
    entryPoints: { app: join(source, entry) },
    outdir: out,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
  });
};
await bundle('main.tsx');
if (!existsSync(join(out, 'app.css')) && existsSync(join(source, 'styles.css'))) await bundle('styles.css');
copyFileSync(join(source, 'index.html'), join(out, 'index.html'));
