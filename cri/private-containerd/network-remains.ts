import { readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ContainerdLayout } from './layout.ts';
import { runCommand } from './run-command.ts';

/** libcni notes each attachment here; containerd has no option for the folder. */
const CNI_RESULTS = '/var/lib/cni/results';
const HOST_PORT_CHAINS = ['CNI-HOSTPORT-DNAT', 'CNI-HOSTPORT-SETMARK', 'CNI-HOSTPORT-MASQ'] as const;

/** Removes bridge, iptables rules, address notes and attachment notes of the pod network. Returns what is left. */
export async function removeNetwork(layout: ContainerdLayout): Promise<string[]> {
  const left: string[] = [];
  if ((await runCommand('ip', ['link', 'show', layout.bridgeName])).code === 0) {
    const removed = await runCommand('ip', ['link', 'delete', layout.bridgeName]);
    if (removed.code !== 0) left.push(`bridge ${layout.bridgeName}`);
  }
  for (const tool of ['iptables', 'ip6tables']) left.push(...(await removeNatRules(tool, layout.networkName)));
  await Promise.all(['iptables', 'ip6tables'].map(removeAbandonedChains));
  await rm(layout.ipamDir, { recursive: true, force: true });
  for (const name of await readdir(CNI_RESULTS).catch(() => [])) {
    if (name.startsWith(`${layout.networkName}-`)) await rm(join(CNI_RESULTS, name), { force: true });
  }
  return left;
}

/** The arguments of one `iptables` call each, that remove all rules and chains of a CNI network. */
export function natRemoval(save: string, network: string): string[][] {
  const rules = save.split('\n').filter((line) => line.startsWith('-A '));
  const ours = rules.filter((rule) => rule.includes(`name: \\"${network}\\"`));
  // a chain of ours is one that a rule with our comment jumps to (CNI-<hash> for masquerade, CNI-DN-<hash> for ports)
  const chains = new Set(ours.flatMap((rule) => / -j (CNI-[0-9A-Za-z-]+)$/.exec(rule.trim())?.[1] ?? []));
  for (const chain of HOST_PORT_CHAINS) chains.delete(chain);
  const chainOf = (rule: string) => rule.split(' ')[1] ?? '';
  const outside = ours.filter((rule) => !chains.has(chainOf(rule)));
  const commands = outside.map((rule) => ['-D', ...splitRule(rule).slice(1)]);
  for (const chain of chains) commands.push(['-F', chain]);
  for (const chain of chains) commands.push(['-X', chain]);
  const declared = HOST_PORT_CHAINS.filter((chain) => save.includes(`\n:${chain} `));
  const foreign = rules.some((rule) => chainOf(rule) === 'CNI-HOSTPORT-DNAT' && !ours.includes(rule));
  if (ours.length > 0 && declared.length > 0 && !foreign) {
    // the chains that all networks with host ports share, empty now
    for (const rule of rules) {
      if (HOST_PORT_CHAINS.some((c) => rule.trim().endsWith(`-j ${c}`)) && !outside.includes(rule)) {
        if (!chains.has(chainOf(rule)) && !isHostPortChain(chainOf(rule)))
          commands.push(['-D', ...splitRule(rule).slice(1)]);
      }
    }
    for (const chain of declared) commands.push(['-F', chain]);
    for (const chain of declared) commands.push(['-X', chain]);
  }
  return commands;
}

/**
 * Chains of single containers that hold no rule and to which none leads. A CNI plugin that is killed in the middle of its
 * work leaves them; nothing in them tells of which network they are.
 */
export function abandonedChains(save: string): string[] {
  const lines = save.split('\n');
  const rules = lines.filter((line) => line.startsWith('-A '));
  return lines
    .flatMap((line) => /^:(CNI-[0-9a-f]{24}|CNI-(?:DN|SN)-[0-9a-f]{21}) /.exec(line)?.[1] ?? [])
    .filter((chain) => !rules.some((rule) => rule.includes(chain)));
}

/** Removes what is abandoned at two looks a second apart: at one look alone a plugin may just be making it. */
async function removeAbandonedChains(tool: string): Promise<void> {
  const look = async () => {
    const save = await runCommand(`${tool}-save`, ['-t', 'nat']);
    return save.code === 0 ? abandonedChains(save.stdout) : [];
  };
  const first = await look();
  if (first.length === 0) return;
  await sleep(1_000);
  const still = new Set(await look());
  for (const chain of first) if (still.has(chain)) await runCommand(tool, ['-w', '10', '-t', 'nat', '-X', chain]);
}

async function removeNatRules(tool: string, network: string): Promise<string[]> {
  const save = await runCommand(`${tool}-save`, ['-t', 'nat']);
  if (save.code !== 0) return [];
  const failed: string[] = [];
  for (const args of natRemoval(save.stdout, network)) {
    const result = await runCommand(tool, ['-w', '10', '-t', 'nat', ...args]);
    if (result.code !== 0) failed.push(`${tool} -t nat ${args.join(' ')}`);
  }
  return failed;
}

/** Splits a line of iptables-save into arguments; quoted text has `\"` for a quote. */
function splitRule(rule: string): string[] {
  const words = rule.trim().match(/"(?:\\.|[^"\\])*"|\S+/g) ?? [];
  return words.map((word) => (word.startsWith('"') ? word.slice(1, -1).replace(/\\(.)/g, '$1') : word));
}

function isHostPortChain(chain: string): boolean {
  return (HOST_PORT_CHAINS as readonly string[]).includes(chain);
}

/** Value of a `/proc/sys` file, '' when it is not there. */
export async function sysctl(name: string): Promise<string> {
  return (await readFile(`/proc/sys/${name.replaceAll('.', '/')}`, 'utf8').catch(() => '')).trim();
}
