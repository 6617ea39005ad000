import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodedPath, routed } from '../../../actors/serve/server/request-path.ts';
import { parseGoForm, unescapePath } from '../../../actors/serve/server/go-query.ts';

test('what is routed has neither scheme and host nor a slash too many', () => {
  // Routes that read the raw target took the host for a part of the path: /logs/ named another file.
  assert.equal(routed('http://host:10250/logs/a?query=x'), '/logs/a?query=x');
  assert.equal(routed('HTTPS://host?x'), '/?x');
  assert.equal(routed('/run/a/b/c/?cmd=d'), '/run/a/b/c?cmd=d');
  // Go's mux sends the client on from here.
  assert.equal(routed('/run/a/b/c//?cmd=d'), '/run/a/b/c//?cmd=d');
  assert.equal(routed('*'), '*');
  assert.equal(decodedPath('http://host/logs/%61?b'), '/logs/a');
});

test('bytes that are no text are replaced, all else stays as it is written', () => {
  for (const path of ['/a', '/a%2fb', '/%C3%A9', '/%F0%9F%98%80/x', '/%zz', '/a%'])
    assert.equal(routed(`${path}?%80`), `${path}?%80`);
  assert.equal(routed('/logs/%80/%c3%A9'), '/logs/%EF%BF%BD/%c3%A9');
  assert.equal(routed('/%C3%C3%A9%2F'), '/%EF%BF%BD%C3%A9%2F');
  assert.equal(routed('/a%E2%82/b'), '/a%EF%BF%BD/b');
});

test('a path that no name can be as long as is cut, its query is not', () => {
  const url = routed(`/logs/${'a/'.repeat(100_000)}?x=${'y'.repeat(50_000)}`);
  assert.equal(url.indexOf('?'), 16 * 1024);
  assert.ok(url.endsWith('y'.repeat(50_000)));
});

test('escapes are undone byte by byte', () => {
  assert.equal(unescapePath('/a%2Fb%c3%A9é%00'), '/a/béé\0');
  for (const bad of ['%', '%a', '%4', '%g0', '%0g', 'a%zz', '%%41']) assert.equal(unescapePath(bad), undefined, bad);
});

test('of a form the pairs that are good count, and Go says what is wrong with the others', () => {
  const read = (text: string) => {
    const { values, problem } = parseGoForm(text);
    return [[...values].map(([name, all]) => `${name}=${all.join()}`).join(' '), problem];
  };
  assert.deepEqual(read('a=1&b=+x%2b&a=2&c'), ['a=1,2 b= x+ c=', '']);
  assert.deepEqual(read('a=1&b;c=2'), ['a=1', 'invalid semicolon separator in query']);
  assert.deepEqual(read('a=%zz&b=%4'), ['', 'invalid URL escape "%zz"']);
  assert.deepEqual(read('%=1&x=2'), ['x=2', 'invalid URL escape "%"']);
  // The last semicolon is told before any escape.
  assert.deepEqual(read('a=%zz&b;c'), ['', 'invalid semicolon separator in query']);
});
