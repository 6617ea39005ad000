import { Command, Option } from 'commander';
import type { PodRow } from '../../actors/pods/store/pod-row.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { serverErrors } from '../../machines/errors/server-errors.ts';
import { agentAnswer } from './agent-answer.ts';
import { textTable } from './text-table.ts';

/** What the command touches beside the network; tests give their own. */
export interface PodsCommandEnvironment {
  write: (text: string) => void;
  /** Ms since the epoch. */
  now: () => number;
}

/** `actorlet pods`: a table of all pods of the agent that answers at `--server`. Throws ActorletError SRV002 to SRV004. */
export function podsCommand(
  environment: PodsCommandEnvironment = { write: (text) => process.stdout.write(text), now: Date.now },
): Command {
  return new Command('pods')
    .description('list the pods of a running agent: phase, machine state, restarts, ip, and what each waits for')
    .option('--server <url>', "address of the agent's read-only port", 'http://127.0.0.1:10255')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'))
    .action(async ({ server, output }: { server: string; output: 'table' | 'json' }) => {
      const rows = await fetchRows(server);
      rows.sort((a, b) => compare(`${a.namespace}/${a.name}`, `${b.namespace}/${b.name}`));
      environment.write(output === 'json' ? `${JSON.stringify(rows, null, 2)}\n` : podTable(rows, environment.now()));
    });
}

async function fetchRows(server: string): Promise<PodRow[]> {
  const answer = await agentAnswer(server, '/actorlet/pods');
  const { podRowList } = await import('../../actors/pods/store/pod-row.ts');
  const parsed = podRowList.safeParse(answer);
  if (!parsed.success) {
    throw new ActorletError(serverErrors.notAnAgent, { url: server, reason: 'its answer is no list of pods' });
  }
  return parsed.data.pods;
}

/** The table, columns aligned by two spaces as kubectl does; ends with a newline. */
export function podTable(rows: readonly PodRow[], now: number): string {
  if (rows.length === 0) return 'No pods on this node.\n';
  const cells = rows.map((row) => [
    `${row.namespace}/${row.name}`,
    row.phase,
    row.state,
    String(row.restarts),
    row.ip || '-',
    row.startedAt === '' ? '-' : shortAge(now - Date.parse(row.startedAt)),
    row.why || '-',
  ]);
  return textTable([['POD', 'PHASE', 'STATE', 'RESTARTS', 'IP', 'AGE', 'WHY'], ...cells]);
}

/** kubectl's short form: seconds below two minutes, minutes below three hours, hours below two days, then days. */
export function shortAge(ms: number): string {
  if (Number.isNaN(ms)) return '-';
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
