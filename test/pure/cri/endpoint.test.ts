import assert from 'node:assert/strict';
import { test } from 'node:test';
import { socketPath } from '../../../cri/client/cri-client.ts';

test('a unix endpoint gives its path', () => {
  assert.equal(socketPath('unix:///run/containerd/containerd.sock'), '/run/containerd/containerd.sock');
  assert.equal(socketPath('/run/crio/crio.sock'), '/run/crio/crio.sock');
});

for (const [endpoint, words] of [
  ['', /it is empty/],
  ['tcp://127.0.0.1:1234', /only unix sockets are supported, not tcp/],
  ['unix://run/x.sock', /must be absolute/],
  ['run/x.sock', /must be absolute/],
  [`unix:///${'x'.repeat(107)}`, /108 bytes/],
] as const) {
  test(`refused: ${endpoint.slice(0, 30) || '(empty)'}`, () => {
    assert.throws(() => socketPath(endpoint), { name: 'ActorletError', code: 'CRI001', message: words });
  });
}
