import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNetDev } from '../../../actors/resources/cgroup-stats/interfaces.ts';

const TITLES = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
`;

test('interfaces come in their order, without loopback and the host ends of links', () => {
  const text = `${TITLES}    lo:     100       1    0    0    0     0          0         0      100       1    0    0    0     0       0          0
  eth0:12345678901  12    3    4    0     0          0         0      5678      56    7    8    0     0       0          0
veth12ab: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0
docker0: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0
cni0: 1 2 0 0 0 0 0 0 3 4 0 0 0 0 0 0
broken: 1 2
`;
  const found = parseNetDev(text);
  assert.deepEqual(
    found.map((one) => one.name),
    ['eth0', 'cni0'],
  );
  assert.deepEqual(found[0], {
    name: 'eth0',
    rxBytes: 12_345_678_901,
    rxPackets: 12,
    rxErrors: 3,
    rxDropped: 4,
    txBytes: 5678,
    txPackets: 56,
    txErrors: 7,
    txDropped: 8,
  });
  assert.deepEqual(parseNetDev(''), []);
});
