import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/**
 * Removes from an installed tree (`dist/`, `node_modules/`) what its agent never loads: packages that only the library's types
 * lead to, and of the others all but code, data and licences. Prints those that stay, with their licences.
 * keep-needed-modules.ts TREE PACKAGE...: the packages are kept although no dependency (Node itself).
 */
const [tree = '', ...named] = process.argv.slice(2);
const modules = join(tree, 'node_modules');
const dist = join(tree, 'dist');

/** Of these only types are imported: a rule of dependency-cruiser holds it. */
const TYPES_ONLY = ['@kubernetes/client-node'];
/** What Node loads, and what code reads beside itself. */
const USED = /\.(?:[cm]?js|json|node|wasm|proto)$/;
const USED_OF_OURS = /\.(?:js|json|proto|html|css)$/;
const CODE = /\.(?:[cm]?js|node)$/;
/** Folders of a package that only its makers use; further down such names stand for other things. */
const MAKERS = /^\/(?:tests?|__tests__|spec|benchmarks?|docs?|examples?|fixtures|integration|scripts|tools|\.[^/]*)\//;
/** Commands of libraries. */
const COMMAND = /^\/(?:build\/)?bin\/|^\/bin\.[cm]?js$/;
const LICENCE = /^(?:licen[cs]es?|copying|copyright|notice|authors|patents)(?:[.-](?!.*js$).*)?$/i;

function filesOf(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The folder that Node finds a package in, from another one's folder; null when it is not installed. */
function resolved(name: string, from: string): string | null {
  for (let at = from; at.startsWith(modules); at = dirname(at)) {
    const found = join(at, 'node_modules', name);
    if (existsSync(join(found, 'package.json'))) return found;
  }
  const found = join(modules, name);
  return existsSync(join(found, 'package.json')) ? found : null;
}

interface Manifest {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
}

function needed(roots: Iterable<string>): Set<string> {
  const kept = new Set<string>();
  const visit = (folder: string): void => {
    if (kept.has(folder)) return;
    kept.add(folder);
    const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;
    const { dependencies, optionalDependencies, peerDependencies, peerDependenciesMeta } = manifest;
    const peers = Object.keys(peerDependencies ?? {}).filter((name) => peerDependenciesMeta?.[name]?.optional !== true);
    for (const name of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) {
      const next = resolved(name, folder);
      if (next !== null) visit(next);
    }
  };
  for (const name of roots) visit(join(modules, name));
  return kept;
}

/** The package's folder that a file lies in. */
function packageOf(file: string): string {
  const parts = relative(tree, file).split('/');
  const last = parts.lastIndexOf('node_modules');
  const length = parts[last + 1]?.startsWith('@') ? 2 : 1;
  return join(tree, ...parts.slice(0, last + 1 + length));
}

/** Node's own binary, and what is linked into it, are named by whoever calls. */
function isLoaded(file: string, folder: string): boolean {
  const inside = file.slice(folder.length);
  const name = inside.slice(inside.lastIndexOf('/') + 1);
  if (LICENCE.test(name)) return true;
  if (named.some((one) => folder === join(modules, one))) return inside === '/bin/node' || inside === '/package.json';
  return USED.test(name) && !name.startsWith('.') && !MAKERS.test(inside) && !COMMAND.test(inside);
}

const own = JSON.parse(readFileSync(join(tree, 'package.json'), 'utf8')) as Manifest;
const loaded = Object.keys(own.dependencies ?? {}).filter((name) => !TYPES_ONLY.includes(name));
const reached = needed([...loaded, ...named]);
const kept = new Set<string>();
for (const file of filesOf(modules)) {
  const folder = packageOf(file);
  if (!reached.has(folder) || !isLoaded(file, folder)) rmSync(file);
  else if (CODE.test(file) || file.endsWith('/bin/node')) kept.add(folder);
}
// Types alone are no library.
for (const folder of reached) if (!kept.has(folder)) rmSync(folder, { recursive: true, force: true });
for (const file of filesOf(dist)) if (!USED_OF_OURS.test(file)) rmSync(file);
const packages = [...kept].map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: unknown;
  };
  return `${name} ${version}: ${typeof license === 'string' ? license : 'see its folder'}`;
});
process.stdout.write(`${packages.sort().join('\n')}\n`);
