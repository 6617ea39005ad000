import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** How a launcher starts Node. */
export interface LaunchWords {
  /** All between Node's own path and what the user typed: flags of Node and V8, the path of the program. */
  words: string[];
  /** What it adds to the environment. */
  env: Record<string, string>;
}

/** Answers the launcher's question for a version, and tells in the place of Node how it is started. */
const STAND_IN = `#!/bin/sh
[ "$1" != -p ] || { echo 24; exit; }
exec "$REAL_NODE" -p 'JSON.stringify({ words: process.argv.slice(1), env: process.env })' -- "$@"
`;

/**
 * What the launcher (bin/actorlet of a tree) makes of a sub-command. It is asked itself, with a stand-in for Node: an image without a shell
 * starts Node with the same flags and variables, and nothing has to be kept in step.
 */
export function launchWords(launcher: string, command: string, home: string): LaunchWords {
  const work = mkdtempSync(join(tmpdir(), 'launch-words-'));
  try {
    const standIn = join(work, 'node');
    writeFileSync(standIn, STAND_IN);
    chmodSync(standIn, 0o755);
    const given = { PATH: '/usr/bin:/bin', HOME: home, ACTORLET_NODE: standIn, REAL_NODE: process.execPath };
    const asked = spawnSync('/bin/sh', [launcher, command], { encoding: 'utf8', env: given });
    if (asked.status !== 0) throw new Error(`${launcher}: ${asked.error?.message ?? asked.stderr}`);
    const { words, env } = JSON.parse(asked.stdout) as LaunchWords;
    if (words.at(-1) !== command) throw new Error(`${launcher} started Node with ${JSON.stringify(words)}`);
    // The shell's own
    const others = new Set([...Object.keys(given), 'PWD', 'OLDPWD', 'SHLVL', '_']);
    return {
      words: words.slice(0, -1),
      env: Object.fromEntries(Object.entries(env).filter(([name]) => !others.has(name))),
    };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
