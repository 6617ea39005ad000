import { Command } from 'commander';
import { daemonFlags, readDaemonOptions } from '../flags/daemon-options.ts';

/**
 * The daemon: `actorlet [flags]`, kubelet's own command line. The agent is loaded once its flags are
 * right: neither `--help` nor a mistake in a flag waits for it.
 */
export function daemonCommand(): Command {
  const command = new Command('actorlet').description('A Kubernetes node agent in which every pod is a state machine.');
  daemonFlags(command);
  return command.action(async () => {
    const options = readDaemonOptions(command);
    const { runDaemon } = await import('./run-daemon.ts');
    await runDaemon(options);
  });
}
