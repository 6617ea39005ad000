import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Text of modules that a thread loads before it does anything: what it keeps in memory, and has to read at each start. */
export interface LoadedText {
  modules: number;
  kibibytes: number;
}

const ROOT = join(import.meta.dirname, '../..');
/** Counts what is loaded; a package is text as well. */
const COUNT = `
import { registerHooks } from 'node:module';
let modules = 0, bytes = 0;
registerHooks({ load(url, context, next) {
  const loaded = next(url, context);
  if (loaded.source != null) { modules++; bytes += loaded.source.length; }
  return loaded;
} });
await import(process.env.LOADED);
process.stdout.write(JSON.stringify({ modules, kibibytes: Math.round(bytes / 1024) }));
process.exit(0);
`;

/** Of this module of the checkout with all that it imports. */
export async function loadedText(module: string): Promise<LoadedText> {
  const env = { ...process.env, LOADED: join(ROOT, module), NODE_NO_WARNINGS: '1' };
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', COUNT], { env });
  return JSON.parse(stdout) as LoadedText;
}
