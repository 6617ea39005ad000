import { Command } from 'commander';
import { ActorletError } from '../../machines/errors/define.ts';
import { simErrors } from '../../machines/errors/sim-errors.ts';

interface SimOptions {
  socket: string;
  script?: string;
  seed?: number;
}

/** `actorlet sim`: serves a simulated CRI runtime until SIGTERM or SIGINT. */
export function simCommand(): Command {
  return new Command('sim')
    .description(
      'serve a simulated container runtime (CRI v1) on a unix socket, for tests and trials without containers',
    )
    .requiredOption('--socket <path>', 'unix socket to listen on')
    .option('--script <file>', 'YAML or JSON script: delays, exits, faults (docs/simulated-runtime.md)')
    .option('--seed <number>', 'seed of all randomness; beats the one in the script', parseSeed)
    .action(runSim);
}

async function runSim({ socket, script, seed }: SimOptions): Promise<void> {
  // Only now: the runtime with gRPC is most of what this command loads.
  const { checkScript, readScript } = await import('../../cri/sim/read-script.ts');
  const { startPlannedRuntime } = await import('../../cri/sim/simulated-runtime.ts');
  const plan = script === undefined ? checkScript({}) : readScript(script);
  const runtime = await startPlannedRuntime({ socket, plan, seed });
  const stopped = new Promise<void>((resolve) => {
    process.once('SIGTERM', resolve);
    process.once('SIGINT', resolve);
  });
  process.stdout.write(`simulated runtime ready on unix://${socket} (seed ${runtime.seed})\n`);
  await stopped;
  await runtime.stop();
}

function parseSeed(value: string): number {
  const seed = Number(value);
  if (!/^\d+$/.test(value) || seed > 0xffffffff) throw new ActorletError(simErrors.seedInvalid, { value });
  return seed;
}
