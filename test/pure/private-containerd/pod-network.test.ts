import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { containerdLayout } from '../../../cri/private-containerd/layout.ts';
import { abandonedChains, natRemoval } from '../../../cri/private-containerd/network-remains.ts';
import { conflist } from '../../../cri/private-containerd/pod-network.ts';
import { SUBNET_CANDIDATES, chooseSubnet, overlaps, parseNetwork4 } from '../../../cri/private-containerd/subnet.ts';

describe('chooseSubnet', () => {
  it('never gives a subnet that overlaps a route', () => {
    const network = fc.tuple(fc.ipV4(), fc.integer({ min: 8, max: 32 })).map(([address, bits]) => `${address}/${bits}`);
    fc.assert(
      fc.property(fc.array(network, { maxLength: 12 }), (taken) => {
        let chosen: string;
        try {
          chosen = chooseSubnet(taken);
        } catch {
          return; // all are taken
        }
        const wanted = parseNetwork4(chosen);
        assert.ok(wanted !== null);
        for (const other of taken) {
          const parsed = parseNetwork4(other);
          assert.ok(parsed === null || !overlaps(parsed, wanted), `${chosen} overlaps ${other}`);
        }
      }),
    );
  });

  it('keeps the earlier subnet while it is free, and passes over the default route', () => {
    assert.equal(chooseSubnet(['0.0.0.0/0', 'default'], '10.77.0.0/20'), '10.77.0.0/20');
    assert.equal(chooseSubnet(['10.77.0.0/16'], '10.77.0.0/20'), SUBNET_CANDIDATES[0]);
    assert.equal(chooseSubnet(['10.88.0.5']), SUBNET_CANDIDATES[1]);
  });

  it('says so when all are taken', () => {
    assert.throws(() => chooseSubnet(['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16']), /RTM007.*10\.88\.0\.0\/20/);
  });
});

describe('the layout', () => {
  it('gives two root dirs two networks, with device names that fit', () => {
    const [a, b] = [containerdLayout('/var/lib/a'), containerdLayout('/var/lib/b')];
    assert.notEqual(a.bridgeName, b.bridgeName);
    assert.ok(a.bridgeName.length <= 15);
    assert.match(JSON.stringify(conflist(a, '10.1.0.0/20')), new RegExp(`"bridge":"${a.bridgeName}"`));
  });

  it('refuses a root dir whose socket path would not fit', () => {
    const longest = `/${'x'.repeat(107 - '//containerd/containerd.sock.ttrpc'.length)}`;
    assert.equal(Buffer.byteLength(`${containerdLayout(longest).socket}.ttrpc`), 107);
    assert.throws(() => containerdLayout(`${longest}x`), /RTM003.*108 bytes.*at most 107.*--root-dir/);
  });
});

// as iptables-save prints it with the portmap plugin: one network of ours, maybe one of another
function saved(foreign: boolean): string {
  const lines = [
    '*nat',
    ':PREROUTING ACCEPT [0:0]',
    ':POSTROUTING ACCEPT [0:0]',
    ':CNI-0a1b - [0:0]',
    ':CNI-DN-0a1b - [0:0]',
    ':CNI-HOSTPORT-DNAT - [0:0]',
    ':CNI-HOSTPORT-MASQ - [0:0]',
    ':CNI-HOSTPORT-SETMARK - [0:0]',
    '-A PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT',
    '-A OUTPUT -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT',
    '-A POSTROUTING -m comment --comment "CNI portfwd requiring masquerade" -j CNI-HOSTPORT-MASQ',
    '-A POSTROUTING -s 10.88.0.2/32 -m comment --comment "name: \\"net-a\\" id: \\"c1\\"" -j CNI-0a1b',
    '-A CNI-0a1b -d 10.88.0.0/20 -m comment --comment "name: \\"net-a\\" id: \\"c1\\"" -j ACCEPT',
    '-A CNI-0a1b ! -d 224.0.0.0/4 -m comment --comment "name: \\"net-a\\" id: \\"c1\\"" -j MASQUERADE',
    '-A CNI-DN-0a1b -s 10.88.0.0/20 -p tcp -m tcp --dport 8080 -j CNI-HOSTPORT-SETMARK',
    '-A CNI-DN-0a1b -p tcp -m tcp --dport 8080 -j DNAT --to-destination 10.88.0.2:80',
    '-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"net-a\\" id: \\"c1\\"" -m multiport --dports 8080 -j CNI-DN-0a1b',
    '-A CNI-HOSTPORT-MASQ -m mark --mark 0x2000/0x2000 -j MASQUERADE',
    '-A CNI-HOSTPORT-SETMARK -m comment --comment "CNI portfwd masquerade mark" -j MARK --set-xmark 0x2000/0x2000',
  ];
  if (foreign) {
    lines.push(
      '-A CNI-HOSTPORT-DNAT -p tcp -m comment --comment "dnat name: \\"net-b\\" id: \\"c2\\"" -m multiport --dports 81 -j CNI-DN-9f',
    );
  }
  return `${lines.join('\n')}\nCOMMIT\n`;
}

describe('natRemoval', () => {
  it('removes rules before chains, and the shared chains when nobody else uses them', () => {
    const commands = natRemoval(saved(false), 'net-a').map((args) => args.join(' '));
    assert.deepEqual(commands, [
      '-D POSTROUTING -s 10.88.0.2/32 -m comment --comment name: "net-a" id: "c1" -j CNI-0a1b',
      '-D CNI-HOSTPORT-DNAT -p tcp -m comment --comment dnat name: "net-a" id: "c1" -m multiport --dports 8080 -j CNI-DN-0a1b',
      '-F CNI-0a1b',
      '-F CNI-DN-0a1b',
      '-X CNI-0a1b',
      '-X CNI-DN-0a1b',
      '-D PREROUTING -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT',
      '-D OUTPUT -m addrtype --dst-type LOCAL -j CNI-HOSTPORT-DNAT',
      '-D POSTROUTING -m comment --comment CNI portfwd requiring masquerade -j CNI-HOSTPORT-MASQ',
      '-F CNI-HOSTPORT-DNAT',
      '-F CNI-HOSTPORT-SETMARK',
      '-F CNI-HOSTPORT-MASQ',
      '-X CNI-HOSTPORT-DNAT',
      '-X CNI-HOSTPORT-SETMARK',
      '-X CNI-HOSTPORT-MASQ',
    ]);
  });

  it("leaves another network's rules and the chains they need", () => {
    const commands = natRemoval(saved(true), 'net-a').map((args) => args.join(' '));
    assert.ok(commands.every((command) => !/net-b|-[FX] CNI-HOSTPORT/.test(command)));
    assert.deepEqual(natRemoval(saved(true), 'net-c'), []);
  });
});

describe('abandonedChains', () => {
  it('names the empty chains of containers that no rule leads to, and no other', () => {
    const chain = (letter: string) => `CNI-${letter.repeat(24)}`;
    const save = [
      '*nat',
      ':POSTROUTING ACCEPT [0:0]',
      ':CNI-HOSTPORT-DNAT - [0:0]',
      ':KUBE-MARK-MASQ - [0:0]',
      `:${chain('a')} - [0:0]`,
      `:${chain('b')} - [0:0]`,
      `:${chain('c')} - [0:0]`,
      `:CNI-DN-${'d'.repeat(21)} - [0:0]`,
      `-A POSTROUTING -s 10.0.0.1/32 -j ${chain('b')}`,
      `-A ${chain('c')} -d 10.0.0.0/16 -j ACCEPT`,
      'COMMIT',
    ].join('\n');
    assert.deepEqual(abandonedChains(save), [chain('a'), `CNI-DN-${'d'.repeat(21)}`]);
    assert.deepEqual(abandonedChains(''), []);
  });
});
