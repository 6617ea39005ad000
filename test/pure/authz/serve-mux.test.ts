import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kubeletPatterns, redirectBody, serveMux } from '../../../actors/serve/server/serve-mux.ts';

const options = {
  debugging: true,
  healthChecks: ['ping', 'log', 'syncloop'],
  checkpoint: true,
  flagz: false,
  statusz: false,
};
const patterns = kubeletPatterns(options);

test('paths of kubelet reach its filters, others get 404, unclean ones are sent on', () => {
  const table: Record<string, string> = {
    '/pods': 'handler',
    '/%70ods': 'handler',
    '/pods/': 'handler',
    '/pods/x': 'handler',
    '/pods%2Fx': 'notFound',
    '/healthz': 'handler',
    '/healthz/ping': 'handler',
    '/healthz/nosuch': 'notFound',
    '/healthz/': 'notFound',
    '/metrics/cadvisor?x=1': 'handler',
    '/metrics%2Fcadvisor': 'notFound',
    '/metrics/nosuch': 'notFound',
    '/exec': 'handler',
    '/exec/a/b/c?command=ls': 'handler',
    '/nosuch': 'notFound',
    '/': 'notFound',
    '/flagz': 'notFound',
    '/logs': '/logs/',
    '/logs?x=1': '/logs/?x=1',
    '/stats': '/stats/',
    '/runningpods': '/runningpods/',
    '/debug/pprof': '/debug/pprof/',
    '/logs/../exec/a/b/c': '/exec/a/b/c',
    '/logs/%2e%2e/exec': 'handler',
    '//pods': '/pods',
    '/./nosuch': '/nosuch',
    '/../../etc/passwd': '/etc/passwd',
    '/logs//a/': '/logs/a/',
    '': '/',
  };
  for (const [url, wanted] of Object.entries(table)) {
    const answer = serveMux(patterns, url);
    assert.equal(answer.kind === 'redirect' ? answer.location : answer.kind, wanted, url);
  }
});

test('without debugging handlers the paths that say so are still there', () => {
  const few = kubeletPatterns({ ...options, debugging: false, statusz: true });
  for (const path of ['/exec/a/b/c', '/logs/x', '/runningpods/', '/statusz', '/pods']) {
    assert.equal(serveMux(few, path).kind, 'handler', path);
  }
  for (const path of ['/configz', '/checkpoint/a/b/c', '/debug/flags/v']) {
    assert.equal(serveMux(few, path).kind, 'notFound', path);
  }
});

test('the body of a redirect is as of Go', () => {
  assert.equal(redirectBody('/logs/?a&"b"'), '<a href="/logs/?a&amp;&#34;b&#34;">Moved Permanently</a>.\n\n');
});
