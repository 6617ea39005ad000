import { Command, InvalidArgumentError } from 'commander';

/** `actorlet doctor`: checks the machine, one line each with the cure; exit code 1 when a check failed. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check this machine: root, cgroups, runtime, CNI, ports, Node, disk; one line each, with the cure')
    .option('--root-dir <dir>', "the agent's root dir", '/var/lib/kubelet')
    .option(
      '--container-runtime-endpoint <endpoint>',
      'the runtime to check (default: a usual socket, else an own one)',
    )
    .option('--ports <list>', 'ports that must be free: healthz, server, read-only', parsePorts, [10248, 10250, 10255])
    .option('--json', 'print the results as JSON')
    .action(
      async (options: { rootDir: string; containerRuntimeEndpoint?: string; ports: number[]; json?: boolean }) => {
        const { examineMachine, formatResults } = await import('../../actors/configure/doctor/examine.ts');
        const results = await examineMachine({
          rootDir: options.rootDir,
          endpoint: options.containerRuntimeEndpoint,
          ports: options.ports,
        });
        console.log(options.json === true ? JSON.stringify(results, null, 2) : formatResults(results));
        if (results.some(({ level }) => level === 'fail')) process.exitCode = 1;
      },
    );
}

function parsePorts(value: string): number[] {
  const ports = value.split(',').map(Number);
  if (ports.some((port) => !Number.isInteger(port) || port < 1 || port > 65535)) {
    throw new InvalidArgumentError('Give port numbers from 1 to 65535, separated by commas.');
  }
  return ports;
}
