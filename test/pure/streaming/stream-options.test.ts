import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { firstValue, parseGoQuery } from '../../../actors/serve/server/go-query.ts';
import { offeredProtocols } from '../../../actors/serve/streaming/protocols.ts';
import { portForwardPorts, remoteCommandOptions } from '../../../actors/serve/streaming/stream-options.ts';
import { streamingTarget } from '../../../actors/serve/streaming/target-request.ts';

test('every well-formed query is read back, in order', () => {
  const pairs = fc.array(fc.tuple(fc.string({ minLength: 1 }), fc.string()), { maxLength: 8 });
  fc.assert(
    fc.property(pairs, (list) => {
      const query = parseGoQuery(`/exec/a/b/c?${new URLSearchParams(list).toString()}`);
      for (const name of new Set(list.map(([key]) => key))) {
        assert.deepEqual(
          query.get(name),
          list.filter(([key]) => key === name).map(([, value]) => value),
        );
      }
      assert.equal(query.size, new Set(list.map(([key]) => key)).size);
    }),
  );
});

test('nothing that a client writes makes the parsers throw', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      const query = parseGoQuery(`/x?${text}`);
      remoteCommandOptions(query);
      portForwardPorts(query);
    }),
  );
});

test('broken pairs are left out as Go leaves them out', () => {
  const query = parseGoQuery('/x?a=1;b=2&c=%zz&d=%41+b&e&=f&d=2&%zz=3&g=%ff');
  assert.deepEqual(
    [...query],
    [
      ['d', ['A b', '2']],
      ['e', ['']],
      ['', ['f']],
      ['g', ['\ufffd']],
    ],
  );
  assert.equal(firstValue(query, 'd'), 'A b');
  assert.equal(firstValue(query, 'absent'), '');
  assert.equal(parseGoQuery('/x').size, 0);
});

test('only 1 means yes, and a terminal has no stderr', () => {
  const flag = fc.constantFrom('1', '0', 'true', '', undefined);
  fc.assert(
    fc.property(flag, flag, flag, flag, (input, output, error, tty) => {
      const given = Object.entries({ input, output, error, tty }).flatMap(([name, value]) =>
        value === undefined ? [] : [[name, value] as [string, string]],
      );
      const options = remoteCommandOptions(parseGoQuery(`/x?${new URLSearchParams(given).toString()}`));
      const stderr = error === '1' && tty !== '1';
      if (input !== '1' && output !== '1' && !stderr) {
        assert.deepEqual(options, { ok: false, error: 'you must specify at least 1 of stdin, stdout, stderr' });
      } else {
        const value = { stdin: input === '1', stdout: output === '1', stderr, tty: tty === '1' };
        assert.deepEqual(options, { ok: true, value });
      }
    }),
  );
});

test('ports: lists, repetitions, and what is none', () => {
  const ports = (query: string) => {
    const parsed = portForwardPorts(parseGoQuery(`/x?${query}`));
    return parsed.ok ? parsed.value : parsed.error;
  };
  assert.deepEqual(ports('port=80&port=8080,9090'), [80, 8080, 9090]);
  assert.deepEqual(ports('port=65535'), [65_535]);
  assert.equal(ports(''), 'query parameter "port" is required');
  assert.equal(ports('port='), 'query parameter "port" cannot be empty');
  assert.equal(ports('port=0'), 'port "0" must be > 0');
  assert.equal(ports('port=-1'), 'unable to parse "-1" as a port: strconv.ParseUint: parsing "-1": invalid syntax');
  assert.equal(
    ports('port=65536'),
    'unable to parse "65536" as a port: strconv.ParseUint: parsing "65536": value out of range',
  );
  assert.equal(ports('port=1,'), 'unable to parse "1," as a port: strconv.ParseUint: parsing "": invalid syntax');
});

test('a token among the sub-protocols is no sub-protocol', () => {
  const headers = {
    'sec-websocket-protocol': 'v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.dG9r,v4.channel.k8s.io',
  };
  assert.deepEqual(offeredProtocols(headers), ['v5.channel.k8s.io', 'v4.channel.k8s.io']);
  assert.deepEqual(offeredProtocols({}), []);
});

test('addresses of streams', () => {
  assert.equal(streamingTarget('//127.0.0.1:5/exec/t').href, 'http://127.0.0.1:5/exec/t');
  assert.equal(streamingTarget('https://h/exec/t?x=1').href, 'https://h/exec/t?x=1');
  assert.throws(() => streamingTarget('unix:///run/s'), { message: 'error dialing backend: unknown scheme: unix' });
  assert.throws(() => streamingTarget('/exec/t'), /^Error: parse "\/exec\/t"/);
});
