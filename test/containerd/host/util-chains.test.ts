import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const lacks = spawnSync('unshare', ['-n', 'iptables', '-S', 'POSTROUTING', '-t', 'nat']).status !== 0;

const RULES = [
  '-A INPUT -j KUBE-FIREWALL',
  '-A OUTPUT -j KUBE-FIREWALL',
  '-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -m comment --comment "block incoming localnet connections" -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP',
];

test('the chains of iptables are made once, and again after a flush', { skip: lacks && 'needs iptables' }, () => {
  const script = join(import.meta.dirname, 'util-chains.ts');
  const out = execFileSync('unshare', ['-n', process.execPath, script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const { first, last } = JSON.parse(out.toString()) as Record<'first' | 'last', Record<'v4' | 'v6', string>>;
  const rulesOf = (saved: string) => saved.split('\n').filter((line) => line.startsWith('-A'));
  for (const saved of [first, last]) {
    assert.deepEqual(rulesOf(saved.v4), RULES, 'each once');
    assert.match(saved.v4, /^:KUBE-IPTABLES-HINT/m);
    assert.match(saved.v6, /^:KUBE-IPTABLES-HINT/m);
    assert.deepEqual(rulesOf(saved.v6), []);
    assert.equal(saved.v4.match(/^:KUBE-KUBELET-CANARY/gm)?.length, 3, 'one in each table');
  }
});
