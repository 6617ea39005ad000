import { Command, Option } from 'commander';
import { z } from 'zod';
import { ActorletError } from '../../machines/errors/define.ts';
import { serverErrors } from '../../machines/errors/server-errors.ts';
import type { ResourceTable } from '../../machines/pod-resources-api/resource-rows.ts';
import { agentAnswer } from './agent-answer.ts';
import { textTable } from './text-table.ts';

/** Body of `/actorlet/resources`. */
const answer = z.object({
  kind: z.literal('ActorletResources'),
  shared: z.string().nullable(),
  free: z.array(z.object({ node: z.number(), resource: z.string(), bytes: z.number(), of: z.number() })).nullable(),
  rows: z.array(
    z.object({
      pod: z.string(),
      uid: z.string(),
      container: z.string(),
      cpus: z.string(),
      memory: z.array(z.string()),
      devices: z.array(z.string()),
      // An earlier agent does not tell it.
      since: z.string().nullable().default(null),
    }),
  ),
});

/** `actorlet resources`: who has which CPUs, memory and devices of the agent's node. Throws ActorletError SRV002 to SRV004. */
export function resourcesCommand(write: (text: string) => void = (text) => void process.stdout.write(text)): Command {
  return new Command('resources')
    .description(
      'list which containers of a running agent have which CPUs, memory and devices alone, and what is left for all',
    )
    .option('--server <url>', "address of the agent's read-only port", 'http://127.0.0.1:10255')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'json']).default('table'))
    .action(async ({ server, output }: { server: string; output: 'table' | 'json' }) => {
      const parsed = answer.safeParse(await agentAnswer(server, '/actorlet/resources'));
      if (!parsed.success) {
        throw new ActorletError(serverErrors.notAnAgent, {
          url: server,
          reason: 'its answer is no table of resources',
        });
      }
      const { kind: _kind, ...table } = parsed.data;
      write(output === 'json' ? `${JSON.stringify(table, null, 2)}\n` : resourcesText(table));
    });
}

/** The table in words. */
export function resourcesText({ shared, free, rows }: ResourceTable): string {
  if (shared === null && free === null && rows.length === 0) {
    return 'Neither CPUs nor memory are given away on this node (cpuManagerPolicy, memoryManagerPolicy), and nobody has devices.\n';
  }
  const all = rows.map(({ pod, container, cpus, memory, devices, since }) => [
    ...[pod, container, cpus || '-'],
    ...[memory, devices].map((list) => list.join('; ') || '-'),
    since ?? '-',
  ]);
  const left = [
    ...(shared === null ? [] : [['(shared by all others)', '-', shared || '-', '-', '-', '-']]),
    ...(free ?? []).map(({ node, resource, bytes, of }) => [
      `(free of node ${node})`,
      '-',
      '-',
      `${resource} ${bytes} of ${of}`,
      '-',
      '-',
    ]),
  ];
  return textTable([['POD', 'CONTAINER', 'CPUS', 'MEMORY', 'DEVICES', 'SINCE'], ...all, ...left]);
}
