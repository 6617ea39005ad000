import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

const MAIN = join(import.meta.dirname, '../../../bin/actorlet.ts');

describe('what a new user types wrong is answered with what to do', () => {
  let dir: string;
  before(() => {
    dir = mkdtempSync(join(tmpdir(), 'wrong-input-'));
    writeFileSync(join(dir, 'notes.md'), '# notes\n');
  });
  after(() => rmSync(dir, { recursive: true, force: true }));

  function actorlet(...args: string[]): { code: number | null; out: string } {
    const { status, stdout, stderr } = spawnSync(process.execPath, [MAIN, ...args], { cwd: dir, encoding: 'utf8' });
    return { code: status, out: stdout + stderr };
  }
  const refused = (args: readonly string[], ...says: RegExp[]) => {
    const { code, out } = actorlet(...args);
    assert.notEqual(code, 0, out);
    for (const text of says) assert.match(out, text);
    assert.doesNotMatch(out, /^\s+at .+:\d+:\d+/m, 'no stack');
    return out;
  };

  it('a word that is no command: which are, and the nearest', () => {
    refused(
      ['podz'],
      /^CFG025: There is no command podz\. Did you mean pods\?/,
      /pods, resources, replay, explain, pressure/,
      /--help/,
    );
    refused(['toString'], /no command toString\. The commands/);
    refused(['help', 'nothing'], /no command nothing/);
  });

  it('help and version without hyphens', () => {
    assert.match(actorlet('version').out, /^Kubernetes v1\./);
    assert.match(actorlet('help').out, /^Usage: actorlet \[options\] \[command\]/);
    assert.match(actorlet('help', 'replay').out, /^Usage: actorlet replay/);
  });

  it('an argument that is missing or too much, an option that is none: the usage and where to read on', () => {
    refused(['explain'], /missing required argument 'pod'/, /^Usage: actorlet explain \[options\] <pod>$/m);
    refused(['inspect'], /^Usage: actorlet inspect .*<journal\.\.\.>$/m, /^More: actorlet inspect --help$/m);
    refused(['pods', 'all'], /too many arguments/, /^More: actorlet pods --help$/m);
    refused(['doctor', '--nope'], /unknown option '--nope'/, /^More: actorlet doctor --help$/m);
    refused(['replay', '--threads', 'many', 'notes.md'], /Give a number of threads/);
  });

  it('no agent has run here: explain says what is missing and what to name', () => {
    refused(
      ['explain', 'web', '--root-dir', dir],
      /^EXP005: There is no journal in .*\/journal/,
      /--root-dir.*--journal/,
    );
  });

  it('no agent has run here: so says pressure', () => {
    refused(['pressure', '--root-dir', dir], /^PRS001: There is no journal in .*\/journal/, /--root-dir.*--journal/);
  });

  it('a folder without a journal, and a file that is none, are not called identical', () => {
    for (const path of ['.', 'notes.md']) {
      const out = refused(['replay', path], path === '.' ? /^JRN011: There is no recorded message in \./ : /JRN002/);
      assert.doesNotMatch(out, /identical/);
    }
    refused(['replay', 'missing.jsonl'], /^JRN001: The journal file missing\.jsonl cannot be read/);
    refused(['inspect', '--no-open', '.'], /^INS005: .*Name a journal folder/);
  });
});
