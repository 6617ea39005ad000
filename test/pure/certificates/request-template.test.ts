import assert from 'node:assert/strict';
import { test } from 'node:test';
import { servingTemplate } from '../../../actors/cluster/certificates/request-template.ts';
import { canonicalIp } from '../../../actors/configure/configuration/canonical-ip.ts';
import { rotationDeadline } from '../../../actors/cluster/certificates/rotation-deadline.ts';

test('names and addresses of a serving certificate are the sorted, distinct ones of the node', () => {
  const template = servingTemplate(
    'n1',
    [
      { type: 'Hostname', address: 'n1' },
      { type: 'InternalIP', address: '10.0.0.9' },
      { type: 'InternalIP', address: 'FD00:0::1' },
      { type: 'ExternalIP', address: '10.0.0.10' },
      { type: 'ExternalIP', address: 'no-address' },
      { type: 'Hostname', address: '10.0.0.9' },
      { type: 'InternalDNS', address: 'b.internal' },
      { type: 'ExternalDNS', address: 'a.example' },
      { type: 'ExternalDNS', address: '' },
      { type: 'Other', address: 'other' },
    ],
    false,
  );
  assert.deepEqual(template, {
    commonName: 'system:node:n1',
    organizations: ['system:nodes'],
    dnsNames: ['a.example', 'b.internal', 'n1'],
    ips: ['10.0.0.10', '10.0.0.9', 'fd00::1'],
  });
});

test('without an IP address nothing is requested, unless AllowDNSOnlyNodeCSR', () => {
  const named = [{ type: 'Hostname', address: 'n1' }];
  assert.equal(servingTemplate('n1', named, false), null);
  assert.deepEqual(servingTemplate('n1', named, true)?.dnsNames, ['n1']);
  assert.equal(servingTemplate('n1', [], true), null);
});

test('addresses are compared in one form', () => {
  assert.equal(canonicalIp('010.001.0.1'), '10.1.0.1');
  assert.equal(canonicalIp('2001:DB8:0:0:0:0:0:1'), '2001:db8::1');
  assert.equal(canonicalIp('10.0.0.256'), undefined);
  assert.equal(canonicalIp('node-1'), undefined);
});

test('a certificate is replaced after 70 to 90 per cent of its life', () => {
  const leaf = { validFromDate: new Date(1_000_000), validToDate: new Date(2_000_000) };
  assert.equal(rotationDeadline(leaf, 0), 1_700_000);
  assert.equal(rotationDeadline(leaf, 0.5), 1_800_000);
  const latest = rotationDeadline(leaf, 0.999_999);
  assert.ok(latest > 1_899_000 && latest < 1_900_000, String(latest));
});
