import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRanges } from '../../../actors/serve/node-logs/byte-range.ts';
import { directoryList } from '../../../actors/serve/node-logs/directory-list.ts';
import { MimeTypes } from '../../../actors/serve/node-logs/mime-types.ts';
import { sniffType } from '../../../actors/serve/node-logs/sniff-type.ts';

test('ranges', () => {
  const table: [header: string | undefined, expected: unknown][] = [
    [undefined, []],
    ['bytes=0-9', [{ start: 0, length: 10 }]],
    ['bytes=90-', [{ start: 90, length: 10 }]],
    ['bytes=-7', [{ start: 93, length: 7 }]],
    ['bytes=-700', [{ start: 0, length: 100 }]],
    [
      'bytes=0-0, 99-200,',
      [
        { start: 0, length: 1 },
        { start: 99, length: 1 },
      ],
    ],
    ['bytes=100-', 'outside'],
    ['bytes=1-2,100-', [{ start: 1, length: 2 }]],
    ['bytes=0-99,0-0', []],
    ['bytes=2-1', 'invalid'],
    ['bytes=a-', 'invalid'],
    ['bytes=-', 'invalid'],
    ['lines=1-2', 'invalid'],
  ];
  for (const [header, expected] of table) assert.deepEqual(parseRanges(header, 100), expected, header);
  assert.deepEqual(parseRanges('bytes=0-5', 0), []);
});

test('a listing is escaped and sorted as Go does it', () => {
  const entry = (name: string, folder = false) => ({ name, isDirectory: () => folder });
  const page = directoryList([
    entry('b'),
    entry('a b?#%&<é'),
    entry('a', true),
    entry('a-'),
    entry('x:y'),
    entry("!'()*"),
  ]);
  assert.equal(
    page,
    [
      '<!doctype html>',
      '<meta name="viewport" content="width=device-width">',
      '<pre>',
      `<a href="%21%27%28%29%2A">!&#39;()*</a>`,
      '<a href="a/">a/</a>',
      '<a href="a%20b%3F%23%25&%3C%C3%A9">a b?#%&amp;&lt;é</a>',
      '<a href="a-">a-</a>',
      '<a href="b">b</a>',
      '<a href="./x:y">x:y</a>',
      '</pre>',
      '',
    ].join('\n'),
  );
});

test('types by extension', () => {
  const globs = new MimeTypes('#c\n60:text/x-log:*.log\n50:text/other:*.log\n50:image/x-q:*.Q\n50:a/b:*.[ch]\n', [
    'x/y log\n',
  ]);
  assert.equal(globs.of('a.log'), 'text/x-log; charset=utf-8');
  assert.equal(globs.of('a.q'), 'image/x-q');
  assert.equal(globs.of('a.JSON'), 'application/json');
  assert.equal(globs.of('syslog'), '');
  assert.equal(globs.of('.json'), 'application/json');
  const lists = new MimeTypes(undefined, ['# c\ntext/plain txt asc # more\n']);
  assert.equal(lists.of('a.asc'), 'text/plain; charset=utf-8');
  assert.equal(lists.of('a.more'), '');
});

test('types by content', () => {
  const table: [bytes: string, type: string][] = [
    ['', 'text/plain; charset=utf-8'],
    ['Jan 1 x\n', 'text/plain; charset=utf-8'],
    ['a\0b', 'application/octet-stream'],
    ['\x1F\x8B\x08', 'application/x-gzip'],
    ['\n <hTmL>', 'text/html; charset=utf-8'],
    ['<htmlx', 'text/plain; charset=utf-8'],
    ['\0\0\0\x10ftypmp42\0\0\0\0', 'video/mp4'],
    ['\xFF\xFE\0\0', 'text/plain; charset=utf-16le'],
    ['RIFF1234WAVE', 'audio/wave'],
  ];
  for (const [bytes, type] of table) assert.equal(sniffType(Buffer.from(bytes, 'latin1')), type, JSON.stringify(bytes));
});
