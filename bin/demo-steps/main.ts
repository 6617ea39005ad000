import { rm } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../machines/values/message-of.ts';
import { readDemoOptions } from './demo-options.ts';
import type { DemoOptions } from './demo-options.ts';
import { makeRootDir, missingForDemo } from './preflight.ts';
import { runDemo } from './run-demo.ts';
import { exitCodeOf } from './exit-code.ts';
import { interruption } from './wait-until.ts';

const say = (line: string) => console.log(`demo: ${line}`);
const complain = (line: string) => console.error(`demo: ${line}`);

/** Exit codes: 0 all well, 1 something failed or is missing, 2 wrong use, 130 ended by Ctrl-C before the pod ran. */
async function main(argv: readonly string[]): Promise<number> {
  let options: DemoOptions;
  let rootDir: string;
  try {
    options = readDemoOptions(argv);
    rootDir = await makeRootDir(options.rootDir);
  } catch (error) {
    complain(messageOf(error));
    return 2;
  }
  const missing = await missingForDemo(rootDir);
  if (missing.length > 0) {
    for (const { name, detail, cure } of missing) complain(`${name}: ${detail}${cure === '' ? '' : ` ${cure}`}`);
    complain('this machine cannot run the demo; "bin/actorlet doctor" checks it in full');
    if (options.rootDir === undefined) await rm(rootDir, { recursive: true, force: true });
    return 1;
  }
  const signal = interruption(say);
  const launcher = process.env['ACTORLET_DEMO_AGENT'] ?? fileURLToPath(new URL('../actorlet', import.meta.url));
  return exitCodeOf(runDemo({ options, rootDir, launcher, say, signal }), { check: options.check, say, complain });
}

process.exitCode = await main(process.argv.slice(2));
