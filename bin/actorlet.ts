import { Command } from 'commander';
import { daemonCommand, explainError } from './commands/daemon.ts';

/** Subcommands are loaded only when they are asked for: the daemon pays for none of them. */
const SUBCOMMANDS: Readonly<Record<string, { summary: string; load: () => Promise<Command> }>> = {
  pods: {
    summary: 'list the pods of a running agent and what each waits for',
    load: async () => (await import('./commands/pods.ts')).podsCommand(),
  },
  replay: {
    summary: 'step the machines over a recorded journal and compare',
    load: async () => (await import('./commands/replay.ts')).replayCommand(),
  },
  explain: {
    summary: 'say in words why a pod is in its state, live or from journals',
    load: async () => (await import('./commands/explain.ts')).explainCommand(),
  },
  machines: {
    summary: 'write the state machines as data or pictures',
    load: async () => (await import('./commands/machines.ts')).machinesCommand(),
  },
  inspect: {
    summary: 'show a recorded journal in the inspector: states, messages, time travel',
    load: async () => (await import('./commands/inspect.ts')).inspectCommand(),
  },
  sim: {
    summary: 'serve a simulated container runtime',
    load: async () => (await import('./commands/sim.ts')).simCommand(),
  },
  doctor: {
    summary: 'check this machine: one line each, with the cure',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  },
};

async function main(argv: readonly string[]): Promise<void> {
  const name = argv[0];
  const sub = name === undefined ? undefined : SUBCOMMANDS[name];
  if (name !== undefined && sub !== undefined) {
    const command = await sub.load();
    await command.name(`actorlet ${name}`).parseAsync([...argv.slice(1)], { from: 'user' });
    return;
  }
  const daemon = daemonCommand();
  for (const [subName, { summary }] of Object.entries(SUBCOMMANDS))
    daemon.addCommand(new Command(subName).description(summary));
  await daemon.parseAsync([...argv], { from: 'user' });
}

main(process.argv.slice(2)).catch((error: unknown) => {
  // Worker threads may be up already: they must not keep a failed start alive.
  process.exit(explainError(error));
});
