/** Makes the chains in the network namespace that this runs in, flushes the rules, and prints them before and after. */
import { execFileSync } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { createLogger } from '../../../actors/record/logging/create-logger.ts';
import { Iptables } from '../../../actors/host/packet-rules/iptables.ts';
import { UtilChains } from '../../../actors/host/packet-rules/util-chains.ts';

const save = () => ({ v4: execFileSync('iptables-save').toString(), v6: execFileSync('ip6tables-save').toString() });
const chains = new UtilChains(createLogger({ format: 'text', verbosity: 2 }), undefined, 50);
const four = new Iptables('IPv4');
const made = async () => {
  while (!(await four.chainExists('filter', 'KUBE-KUBELET-CANARY'))) await pause(20);
};

chains.start();
await made();
const first = save();
execFileSync('sh', ['-c', 'for t in mangle nat filter; do iptables -t $t -F; iptables -t $t -X; done']);
await made();
await chains.stop();
const again = new UtilChains(createLogger({ format: 'text', verbosity: 2 }));
again.start();
await again.stop();
process.stdout.write(JSON.stringify({ first, last: save() }));
