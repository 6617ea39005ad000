/** Every command of bin/ says what it is for, and what is wrong with a word that it does not know: a line, and code 2 (the agent 1, as kubelet). */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

const BIN = join(import.meta.dirname, '../../bin');
const commands = readdirSync(BIN).filter((name) => {
  const file = statSync(join(BIN, name));
  return file.isFile() && (file.mode & 0o111) !== 0;
});

test('there are commands', () => assert.ok(commands.length > 8));
for (const name of commands) {
  const run = (word: string) =>
    spawnSync(join(BIN, name), [word], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  test(`bin/${name} --help`, () => {
    const { status, stdout } = run('--help');
    assert.equal(status, 0);
    assert.match(stdout, /\w+ \w+/);
  });
  test(`bin/${name} with a word that it does not know`, () => {
    const { status, stdout, stderr } = run('--no-such-word');
    assert.equal(status, name === 'actorlet' ? 1 : 2, stderr);
    assert.match(stderr, /no-such-word/);
    assert.doesNotMatch(`${stdout}${stderr}`, /^ {4}at |parse_args/m);
  });
}
