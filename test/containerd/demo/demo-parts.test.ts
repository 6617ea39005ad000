import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { readAgentLine } from '../../../bin/demo-steps/agent-log.ts';
import { collectJournal } from '../../../bin/demo-steps/collect-journal.ts';
import { readCriLog } from '../../../bin/demo-steps/pod-log-lines.ts';

describe('readAgentLine', () => {
  it('tells states, problems and the rest apart', () => {
    const state = readAgentLine('{"ts":1,"msg":"Pod state changed","pod":"default/a","state":"syncing.x","v":0}');
    assert.deepEqual(state, { kind: 'state', pod: 'default/a', state: 'syncing.x', why: '' });
    assert.deepEqual(readAgentLine('{"ts":1,"msg":"Bad","err":"no"}'), { kind: 'problem', text: 'Bad: no' });
    assert.equal(readAgentLine('{"ts":1,"msg":"Good","v":0}').kind, 'other');
    assert.deepEqual(readAgentLine('{"msg":"Inspector: open","addressFile":"/j/inspector-address","v":0}'), {
      kind: 'inspector',
      addressFile: '/j/inspector-address',
    });
    assert.equal(readAgentLine('not json').kind, 'other');
  });
});

describe('collectJournal', () => {
  it('puts segments together in name order, gunzips, and ends a cut last line', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'journal-'));
    try {
      await mkdir(join(dir, 'journal'));
      await mkdir(join(dir, 'pods'));
      await writeFile(join(dir, 'journal', 'shard-00-2.jsonl'), '{"n":2}');
      await writeFile(join(dir, 'journal', 'shard-00-1.jsonl.gz'), gzipSync('{"n":1}\n'));
      await writeFile(join(dir, 'journal', 'shard-01-1.jsonl'), '{"n":3}\n');
      await writeFile(join(dir, 'pods', 'of-a-pod.jsonl'), 'nothing of ours\n');
      assert.equal(await collectJournal(dir, join(dir, 'all')), 3);
      assert.equal(await readFile(join(dir, 'all'), 'utf8'), '{"n":1}\n{"n":2}\n{"n":3}\n');
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  });
});

describe('readCriLog', () => {
  it('joins partial lines and drops the prefix', () => {
    assert.deepEqual(readCriLog('t stdout P one \nt stdout F two\nt stderr F \n'), ['one two', '']);
  });
});
