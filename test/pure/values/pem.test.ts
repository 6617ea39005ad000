import assert from 'node:assert/strict';
import { test } from 'node:test';
import { certificatesPem, pemBlocks } from '../../../machines/values/pem.ts';

const block = (body: string, type = 'CERTIFICATE') => `-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`;

test('blocks are found between words, with headers, of any type; broken ones are passed over', () => {
  assert.deepEqual(pemBlocks(''), []);
  assert.deepEqual(pemBlocks(`words\n${block('QUJD')}more words\n${block('REVG', 'X Y')}`), ['QUJD', 'REVG']);
  assert.deepEqual(pemBlocks(block('QUJD').replaceAll('\n', '\r\n')), ['QUJD']);
  assert.deepEqual(pemBlocks(block('Proc-Type: 4\nA: b\n\nQU\tJD \nREVG')), ['QUJDREVG']);
  assert.deepEqual(pemBlocks(`${block('QUJ')}${block('Q*JD')}${block('')}${block('QUJD')}`), ['QUJD']);
  assert.deepEqual(pemBlocks(`-----BEGIN A-----\nQUJD\n-----END B-----\n${block('REVG')}`), ['REVG']);
  assert.deepEqual(pemBlocks(`-----BEGIN A-----\nQUJD\n${block('REVG')}`), ['REVG']);
  assert.deepEqual(pemBlocks(`-----BEGIN A\nQUJD\n-----END A-----\n`), []);
  assert.deepEqual(pemBlocks(` ${block('QUJD')}`), [], 'a block begins a line');
  assert.deepEqual(pemBlocks(block('QUJD').trimEnd()), ['QUJD'], 'the last line may lack its end');
});

test('certificates are written in lines of 64 characters', () => {
  const long = 'A'.repeat(100);
  assert.equal(certificatesPem([long, 'QUJD']), block(`${'A'.repeat(64)}\n${'A'.repeat(36)}`) + block('QUJD'));
  assert.deepEqual(pemBlocks(certificatesPem([long, 'QUJD'])), [long, 'QUJD']);
  assert.equal(certificatesPem([]), '');
});
