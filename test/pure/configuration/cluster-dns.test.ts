import assert from 'node:assert/strict';
import { test } from 'node:test';
import { validClusterDns } from '../../../actors/configure/configuration/valid-cluster-dns.ts';

test('what is no address is left out of clusterDNS with a word in the log; others are told in canonical form', () => {
  const logged: unknown[] = [];
  const log = { info: (...line: unknown[]) => void logged.push(line) };
  const given = ['10.96.0.10', 'dns.example', '010.096.000.011', 'FD00:0::A', ''];
  assert.deepEqual(validClusterDns(given, log), ['10.96.0.10', '10.96.0.11', 'fd00::a']);
  assert.deepEqual(logged, [
    [{ IP: 'dns.example' }, 'Invalid clusterDNS IP'],
    [{ IP: '' }, 'Invalid clusterDNS IP'],
  ]);
});
