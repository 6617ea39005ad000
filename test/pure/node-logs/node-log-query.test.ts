import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aggregate } from '../../../machines/values/aggregate.ts';
import { parseGoQuery } from '../../../actors/serve/server/go-query.ts';
import {
  journalArguments,
  parseNodeLogQuery,
  validateNodeLogQuery,
} from '../../../actors/serve/node-logs/node-log-query.ts';

const parse = (query: string) => parseNodeLogQuery(parseGoQuery(`/logs/?${query}`));
const LONG = 'x'.repeat(257);

test('services and files are told apart by their slashes', () => {
  assert.deepEqual(parse('query=a&query=b/c.log&query=%20&query=d%5Ce').query, {
    services: ['a'],
    files: ['b/c.log', 'd\\e'],
    pattern: '',
  });
  assert.deepEqual(parse('other=1'), { problems: [] });
  assert.deepEqual(parse(''), { problems: [] });
});

const unreadable: [query: string, text: string][] = [
  ['query=', 'query: Invalid value: [""]: may not be empty'],
  ['query=+&query=', 'query: Invalid value: [" ",""]: may not be empty'],
  ['sinceTime=now', 'sinceTime: Invalid value: "now": invalid time format'],
  ['boot=x', 'boot: Invalid value: "x": strconv.Atoi: parsing "x": invalid syntax'],
  [
    'tailLines=99999999999999999999',
    'tailLines: Invalid value: "99999999999999999999": strconv.Atoi: parsing "99999999999999999999": value out of range',
  ],
  [
    'query=&untilTime=1',
    '[query: Invalid value: [""]: may not be empty, untilTime: Invalid value: "1": invalid time format]',
  ],
];
for (const [query, text] of unreadable)
  test(`cannot be read: ${query}`, () => {
    const { problems, query: found } = parse(query);
    assert.equal(found, undefined);
    assert.equal(aggregate(problems), text);
  });

const refused: [query: string, text: string][] = [
  ['boot=0', 'query: Required value: cannot be empty with options'],
  ['query=a&query=b&query=c&query=d&query=e', 'query: Too many: 5: must have at most 4 items'],
  ['query=a%3Bb', 'query: Invalid value: "a;b": input contains unsupported characters'],
  [`query=${LONG}`, `query: Invalid value: "${LONG}": length must be less than 100`],
  ['query=a&query=/b', 'query: Invalid value: "[/b], [a]": cannot specify a file and service'],
  ['query=/a&query=/b', 'query: Invalid value: ["/a","/b"]: cannot specify more than one file'],
  ['query=/a&tailLines=1', 'query: Invalid value: ["/a"]: cannot specify file with options'],
  ['query=/a', 'query: Invalid value: ["/a"]: statat /a: gone'],
  ['query=a&boot=1', 'boot: Invalid value: 1: must be less than 1'],
  ['query=a&tailLines=100001', 'tailLines: Invalid value: 100001: must be between 0 and 100000, inclusive'],
  ['query=a&tailLines=-1', 'tailLines: Invalid value: -1: must be between 0 and 100000, inclusive'],
  [
    'query=a&sinceTime=2024-01-02T00:00:00Z&untilTime=2024-01-01T00:00:00Z',
    'untilTime: Invalid value: "2024-01-01T00:00:00Z": must be after `sinceTime`',
  ],
  ['query=a&pattern=(', 'pattern: Invalid value: "(": error parsing regexp: missing closing ): `(`'],
];
for (const [query, text] of refused)
  test(`refused: ${query.slice(0, 60)}`, async () => {
    const { query: found } = parse(query);
    assert.ok(found);
    assert.equal(aggregate(await validateNodeLogQuery(found, (file) => `statat ${file}: gone`)), text);
  });

test('a good query becomes arguments of journalctl', async () => {
  const { query } = parse(
    'query=kubelet&query=a@1.b&boot=-1&tailLines=5&pattern=x%20y&sinceTime=2024-01-02T03:04:05.6Z&untilTime=2024-11-12T13:14:15%2B01:00',
  );
  assert.ok(query);
  assert.deepEqual(await validateNodeLogQuery(query, () => 'not asked'), []);
  assert.deepEqual(journalArguments(query, ['kubelet']), [
    '--utc',
    '--no-pager',
    '--output=short-precise',
    '--since=2024-1-2 03:4:5',
    '--until=2024-11-12 13:14:15',
    '--pager-end',
    '--lines=5',
    '--unit=kubelet',
    '--grep=x y',
    '--boot',
    '-1',
  ]);
});
