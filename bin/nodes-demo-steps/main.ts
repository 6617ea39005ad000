import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../machines/values/message-of.ts';
import { findPrograms } from '../control-plane/programs.ts';
import { exitCodeOf } from '../demo-steps/exit-code.ts';
import { interruption } from '../demo-steps/wait-until.ts';
import { readNodesDemoOptions } from './options.ts';
import type { NodesDemoOptions } from './options.ts';
import { runNodesDemo } from './run-nodes-demo.ts';

const say = (line: string) => console.log(`nodes-demo: ${line}`);
const complain = (line: string) => console.error(`nodes-demo: ${line}`);
const checkout = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Exit codes: 0 all well, 1 something failed or is missing, 2 wrong use, 130 ended by Ctrl-C before the pods ran. */
async function main(argv: readonly string[]): Promise<number> {
  let options: NodesDemoOptions;
  try {
    options = readNodesDemoOptions(argv);
  } catch (error) {
    complain(messageOf(error));
    return 2;
  }
  const { paths, missing, folders } = await findPrograms(options.binDir);
  if (missing.length > 0) {
    complain(`missing: ${missing.join(', ')}; looked in ${folders.join(', ')}`);
    complain(
      `name a folder that has them (--bin-dir, or KUBEBUILDER_ASSETS), or build them with Go, minutes each: ${missing
        .map((name) => `test/tools/build.sh ${name}`)
        .join('; ')}`,
    );
    return 1;
  }
  const signal = interruption(say);
  const dir = await mkdtemp(join(tmpdir(), 'actorlet-nodes-demo-'));
  const profile = options.profile === undefined ? checkout('docs/profiles/demo.yaml') : resolve(options.profile);
  const launcher = checkout('bin/actorlet');
  return exitCodeOf(runNodesDemo({ options, programs: paths, dir, launcher, profile, say, signal }), {
    check: options.check,
    say,
    complain,
  });
}

process.exitCode = await main(process.argv.slice(2));
