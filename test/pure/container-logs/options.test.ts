import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseGoQuery } from '../../../actors/serve/server/go-query.ts';
import { parsePodLogOptions } from '../../../actors/serve/container-logs/parse-options.ts';
import { validatePodLogOptions } from '../../../actors/serve/container-logs/container-logs-routes.ts';

const parse = (query: string) => parsePodLogOptions(parseGoQuery(`/x?${query}`));
const plain = { follow: false, previous: false, timestamps: false };

test('a query is read as Go reads it', () => {
  const values = parseGoQuery('/p?a=1&a=2&b&=x&c=%2&d=x;y&e=%C3%A9+z&%66=7');
  assert.deepEqual(
    [...values],
    [
      ['a', ['1', '2']],
      ['b', ['']],
      ['', ['x']],
      ['e', ['é z']],
      ['f', ['7']],
    ],
  );
  assert.deepEqual([...parseGoQuery('/p')], []);
});

test('truths, numbers and times are decoded by the rules of apimachinery', () => {
  assert.deepEqual(parse(''), plain);
  assert.deepEqual(parse('follow&previous=True&timestamps=FALSE'), { ...plain, follow: true, previous: true });
  assert.deepEqual(parse('follow=0&follow=1&timestamps=no'), { ...plain, timestamps: true });
  assert.deepEqual(parse('tailLines=%2B5&limitBytes=-3&sinceSeconds=7'), {
    ...plain,
    tailLines: 5n,
    limitBytes: -3n,
    sinceSeconds: 7n,
  });
  assert.deepEqual(parse('sinceTime=1970-01-01T01:00:02.5%2B01:00&stream='), {
    ...plain,
    stream: '',
    sinceTime: { seconds: 2, nanos: 500_000_000 },
  });
  assert.equal(parse('sinceTime=null')?.sinceTime?.seconds, -62135596800);
  assert.equal(parse('sinceTime=')?.sinceTime?.seconds, -62135596800);
  for (const bad of [
    'tailLines=',
    'tailLines=1.5',
    'tailLines=x',
    'limitBytes=9223372036854775808',
    'sinceSeconds=1e3',
    'sinceSeconds=0x10',
    'sinceTime=yesterday',
    'sinceTime=2024-02-30T00:00:00Z',
    'tail=many',
  ])
    assert.equal(parse(bad), undefined, bad);
});

test('the legacy name of tailLines wins, and "all" takes it away', () => {
  assert.equal(parse('tail=3')?.tailLines, 3n);
  assert.equal(parse('tail=3&tailLines=9')?.tailLines, 3n);
  assert.equal(parse('tail=all&tailLines=9')?.tailLines, undefined);
  assert.equal(parse('tail=&tailLines=9')?.tailLines, 9n);
});

test('options out of bounds are refused', () => {
  const problems = (query: string) => validatePodLogOptions(parse(query) ?? assert.fail(query)).length;
  for (const good of ['', 'tailLines=0', 'limitBytes=1', 'sinceSeconds=1', 'stream=All&tailLines=1', 'stream=Stderr'])
    assert.equal(problems(good), 0, good);
  for (const bad of [
    'tailLines=-1',
    'limitBytes=0',
    'sinceSeconds=0',
    'sinceSeconds=1&sinceTime=2024-01-01T00:00:00Z',
    'stream=stdout',
    'stream=',
    'stream=Stdout&tailLines=1',
  ])
    assert.equal(problems(bad) > 0, true, bad);
});
