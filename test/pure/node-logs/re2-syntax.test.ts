import assert from 'node:assert/strict';
import { test } from 'node:test';
import { re2Problem } from '../../../actors/serve/node-logs/node-log-query.ts';

/** What Go's parser said of each (go1.26, `syntax.Parse(pattern, syntax.Perl)`). */
const table: [pattern: string, part: string][] = [
  ['(', 'missing closing ): `(`'],
  ['a)', 'unexpected ): `a)`'],
  ['[', 'missing closing ]: `[`'],
  ['x[a', 'missing closing ]: `[a`'],
  ['a**', 'invalid nested repetition operator: `**`'],
  ['a+?+', 'invalid nested repetition operator: `+?+`'],
  ['*', 'missing argument to repetition operator: `*`'],
  ['a|+?', 'missing argument to repetition operator: `+?`'],
  ['(?=a)', 'invalid or unsupported Perl syntax: `(?=`'],
  ['(?z)', 'invalid or unsupported Perl syntax: `(?z`'],
  ['(?i', 'invalid or unsupported Perl syntax: `(?i`'],
  ['a{1001}', 'invalid repeat count: `{1001}`'],
  ['a{2,1}', 'invalid repeat count: `{2,1}`'],
  ['(a{1000}){1000}', 'invalid repeat count: `{1000}`'],
  ['\\', 'trailing backslash at end of expression: ``'],
  ['\\q', 'invalid escape sequence: `\\q`'],
  ['\\1', 'invalid escape sequence: `\\1`'],
  ['\\C', 'invalid escape sequence: `\\C`'],
  ['\\xg', 'invalid escape sequence: `\\xg`'],
  ['\\x{110000}', 'invalid escape sequence: `\\x{110000`'],
  ['\\pX', 'invalid character class range: `\\pX`'],
  ['[b-a]', 'invalid character class range: `b-a`'],
  ['[[:foo:]]', 'invalid character class range: `[:foo:]`'],
  ['(?P<n', 'invalid named capture: `(?P<n`'],
  ['(?P<>x)', 'invalid named capture: `(?P<>`'],
];

for (const [pattern, problem] of table)
  test(`refused: ${pattern}`, async () => {
    assert.equal(await re2Problem(pattern), `error parsing regexp: ${problem}`);
  });

test('good patterns', async () => {
  for (const pattern of [
    '',
    '(?i)x',
    '(?<n>x)',
    '(?s-i:x)',
    'a{,2}',
    '\\Qa(b',
    '[\\w-a]',
    '[]a]',
    '\\pL\\p{^Greek}',
    'a??',
    'é{3}',
  ])
    assert.equal(await re2Problem(pattern), '', pattern);
});
