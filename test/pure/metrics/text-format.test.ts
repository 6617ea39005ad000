import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelText, sampleValue, TextWriter } from '../../../actors/record/metrics/text-format.ts';

test('families and samples as Go writes them', () => {
  const writer = new TextWriter();
  writer.family('a_total', 'Counts \\ and\nmore.', 'counter');
  writer.sample('a_total', { container: '', path: 'a"b\\c\nd' }, 3, 1700000000123.9);
  writer.family('b', 'None.', 'gauge');
  writer.sample('b', {}, 0.25);
  writer.line('b', labelText({ x: 'ü' }), 1e6);
  assert.equal(
    writer.toString(),
    '# HELP a_total Counts \\\\ and\\nmore.\n# TYPE a_total counter\n' +
      'a_total{container="",path="a\\"b\\\\c\\nd"} 3 1700000000123\n' +
      '# HELP b None.\n# TYPE b gauge\nb 0.25\nb{x="ü"} 1e+06\n',
  );
});

test('numbers have the shortest form, an exponent of two digits from 1e6 on and below 1e-4', () => {
  const expected: [number, string][] = [
    [0, '0'],
    [-1, '-1'],
    [999_999, '999999'],
    [999_999.5, '999999.5'],
    [1_000_000, '1e+06'],
    [1_763_714_000.5, '1.7637140005e+09'],
    [9_223_372_036_854_775_807, '9.223372036854776e+18'],
    [1e100, '1e+100'],
    [0.0001, '0.0001'],
    [0.00001234, '1.234e-05'],
    [-2_500_000, '-2.5e+06'],
    [Infinity, '+Inf'],
    [-Infinity, '-Inf'],
    [NaN, 'NaN'],
  ];
  for (const [value, text] of expected) assert.equal(sampleValue(value), text);
});
