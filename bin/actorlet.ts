import type { Command } from 'commander';

/**
 * Subcommands are loaded only when they are asked for, and the daemon only when none is: nobody pays for another one's
 * code. What each may load is held by test/tooling/launcher.
 */
const SUBCOMMANDS: Readonly<Record<string, { summary: string; load: () => Promise<Command> }>> = {
  pods: {
    summary: 'list the pods of a running agent and what each waits for',
    load: async () => (await import('./commands/pods.ts')).podsCommand(),
  },
  resources: {
    summary: 'list who has which CPUs and memory of a running agent alone',
    load: async () => (await import('./commands/resources.ts')).resourcesCommand(),
  },
  replay: {
    summary: 'step the machines over a recorded journal and compare',
    load: async () => (await import('./commands/replay.ts')).replayCommand(),
  },
  explain: {
    summary: 'say in words why a pod is in its state, live or from journals',
    load: async () => (await import('./commands/explain.ts')).explainCommand(),
  },
  pressure: {
    summary: 'say how near the node is to evictions, and who would go first',
    load: async () => (await import('./commands/pressure.ts')).pressureCommand(),
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
  nodes: {
    summary: 'run many simulated nodes of a real control plane',
    load: async () => (await import('./commands/nodes.ts')).nodesCommand(),
  },
  doctor: {
    summary: 'check this machine: one line each, with the cure',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand(),
  },
};

/** What people type out of habit: `actorlet help`, `actorlet help replay`, `actorlet version`. */
function inOurWords(given: readonly string[]): readonly string[] {
  const [first, second] = given;
  if (first === 'version') return ['--version'];
  if (first === 'help') return second === undefined ? ['--help'] : [second, '--help'];
  return given;
}

async function main(given: readonly string[]): Promise<void> {
  const argv = inOurWords(given);
  const [name = ''] = argv;
  const sub = Object.hasOwn(SUBCOMMANDS, name) ? SUBCOMMANDS[name] : undefined;
  if (sub !== undefined) {
    const command = (await sub.load()).name(`actorlet ${name}`);
    command.showHelpAfterError(`Usage: ${command.name()} ${command.usage()}\nMore: ${command.name()} --help`);
    await command.parseAsync(argv.slice(1), { from: 'user' });
    return;
  }
  if (name !== '' && !name.startsWith('-'))
    throw (await import('./commands/unknown-command.ts')).unknownCommand(name, Object.keys(SUBCOMMANDS));
  const { Command: Sub } = await import('commander');
  const daemon = (await import('./commands/daemon.ts')).daemonCommand();
  for (const [subName, { summary }] of Object.entries(SUBCOMMANDS))
    daemon.addCommand(new Sub(subName).description(summary));
  await daemon.parseAsync([...argv], { from: 'user' });
}

main(process.argv.slice(2)).catch(async (error: unknown) => {
  const { explainError } = await import('./commands/explain-error.ts');
  // Worker threads may be up already: they must not keep a failed start alive.
  process.exit(await explainError(error));
});
