import { nodeNamed } from '../../machines/protocol/recorded-event.ts';
import { resolverOverLimit } from '../../machines/sandbox-config/resolv-limits.ts';
import { messageOf } from '../../machines/values/message-of.ts';
import { readResolver } from '../host/effects/nodes-files.ts';
import { tmpfsNoswap } from '../host/kernel/tmpfs-noswap.ts';
import type { Clock } from '../host/time/clock.ts';
import { readText } from '../resources/machine/node-facts.ts';
import type { HostLinks } from './edges.ts';
import type { Part } from './lifecycle.ts';
import type { NodeGround } from './node-ground.ts';

const MAY_SWAP =
  'The tmpfs noswap option is not supported. Memory-backed volumes (e.g. secrets, emptyDirs, etc.) might be swapped to disk and should no longer be considered secure.';

/** What is told of the machine once, when the agent is started: a resolver file that pods cannot use whole, and memory that may be swapped. */
export function nodeWarnings(
  { config, rootDir, settings, log }: Pick<NodeGround, 'config' | 'rootDir' | 'settings' | 'log'>,
  { record }: Pick<HostLinks, 'record'>,
  clock: Pick<Clock, 'now'>,
  machine = { swapIsOn, noswap: () => tmpfsNoswap(rootDir, log) },
): Part {
  const object = nodeNamed(settings.nodeName);
  const warn = (reason: string, message: string): void =>
    record({ object, at: clock.now(), type: 'Warning', reason, message });
  return {
    name: 'warnings of the machine',
    phase: 'work',
    async start() {
      // With `failSwapOn` there was no start.
      if (machine.swapIsOn() && !(await machine.noswap())) warn('PossibleMemoryBackedVolumesOnDisk', MAY_SWAP);
      const problem = config.resolvConf === '' ? null : await resolverProblem(config.resolvConf, config.clusterDomain);
      if (problem !== null) warn('CheckLimitsForResolvConf', problem);
    },
    stop: () => undefined,
  };
}

async function resolverProblem(path: string, clusterDomain: string): Promise<string | null> {
  try {
    const { searches } = await readResolver({ path });
    return resolverOverLimit(path, searches, clusterDomain);
  } catch (error) {
    // Kubelet says here what is wrong with the file without saying that it was read.
    return messageOf(error).replace('Encountered error while parsing resolv conf file. Error: ', '');
  }
}

/** Its table has a head, and a line for each place that is in use. */
function swapIsOn(): boolean {
  return readText('/proc/swaps').trim().split('\n').length > 1;
}
