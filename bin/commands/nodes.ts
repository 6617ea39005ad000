import { Command, Option } from 'commander';
import { ActorletError } from '../../machines/errors/define.ts';
import { nodesErrors } from '../../machines/errors/nodes-errors.ts';
import type { NodesFlags } from './nodes-flags.ts';

/** `actorlet nodes`: many simulated nodes of a real control plane, until SIGTERM or SIGINT. */
export function nodesCommand(): Command {
  return new Command('nodes')
    .description(
      'run many simulated nodes of a real control plane in one process: the real agent on machines that are not there',
    )
    .option(
      '--kubeconfig <file>',
      'way to the API server, of one who may do what all these nodes do; in a pod its service account by default',
    )
    .option('--count <number>', 'how many nodes', wholeNumber('--count', 1, 100_000), 1)
    .option(
      '--first <number>',
      'number of the first node: other processes have the others',
      wholeNumber('--first', 0, 100_000),
      0,
    )
    .option(
      '--profile <file>',
      'YAML or JSON: machines, zones, behaviour of containers, failures (docs/simulated-nodes.md)',
    )
    .option(
      '--seed <number>',
      'seed of all randomness; beats the one in the profile',
      wholeNumber('--seed', 0, 0xffffffff),
    )
    .option(
      '--speed <factor>',
      "how many times as fast as this machine's the nodes' clock runs, 1x to 100x (docs/simulated-nodes.md#speed)",
      speedFactor,
      1,
    )
    .option('--config <file>', 'KubeletConfiguration of all nodes')
    .option('--address <ip>', 'address of this machine that the API server reaches: the InternalIP of all nodes')
    .option(
      '--node-range <cidr>',
      'IPv4 range, routed to this machine, from which each node has an InternalIP of its own',
    )
    .option('--port <number>', "port of the kubelet's API; 0: none", wholeNumber('--port', 0, 65_535), 10_250)
    .option(
      '--healthz-port <number>',
      'port of /healthz for probes (well once each node has been Ready) and /healthz/ping, without a lock; 0: none',
      wholeNumber('--healthz-port', 0, 65_535),
      0,
    )
    .option('--root-dir <folder>', 'where logs and certificates lie; a folder that goes with the process by default')
    .option('--cleanup', 'remove the nodes and their leases at the end; without it they are left NotReady', false)
    .addOption(
      new Option('--output <how>', 'what is printed meanwhile; auto: a table on a terminal, else lines of JSON')
        .choices(['auto', 'table', 'json', 'none'])
        .default('auto'),
    )
    .option('--log-file <file>', 'write what the agents log there')
    .option(
      '--journal-dir <folder>',
      'keep the journal of each node there, in a folder of its name (actorlet replay, explain, inspect)',
    )
    .option(
      '--journal-max-bytes <bytes>',
      'disk that the journal of one node may use',
      wholeNumber('--journal-max-bytes', 1_048_576, Number.MAX_SAFE_INTEGER),
      16_777_216,
    )
    .option(
      '--inspect [host:port]',
      'serve the inspector of all nodes there (127.0.0.1:10270 without a value); needs --journal-dir, where inspector-address has the address',
    )
    .action(async (flags: NodesFlags) => {
      const { runNodes } = await import('./run-nodes.ts');
      await runNodes(flags);
    });
}

/** `10`, `10x` or `2.5x`. */
function speedFactor(value: string): number {
  const factor = Number(/^(\d+(?:\.\d+)?)x?$/.exec(value)?.[1]);
  if (factor >= 1 && factor <= 100) return factor;
  throw new ActorletError(nodesErrors.flagInvalid, {
    ...{ flag: '--speed', value },
    accepted: 'a factor from 1 to 100, as 10x, 10 or 2.5x',
  });
}

function wholeNumber(flag: string, least: number, most: number): (value: string) => number {
  return (value) => {
    const number = Number(value);
    if (!/^\d+$/.test(value) || number < least || number > most)
      throw new ActorletError(nodesErrors.flagInvalid, {
        flag,
        value,
        accepted: `a whole number from ${least} to ${most}`,
      });
    return number;
  };
}
