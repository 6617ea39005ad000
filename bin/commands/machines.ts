import { Argument, Command, Option } from 'commander';
import { chartOf } from '../../machines/charts/chart-of.ts';
import { machineConfig } from '../../machines/charts/machine-config.ts';
import { mermaidOf } from '../../machines/charts/mermaid.ts';
import type { MachineName } from '../../machines/charts/node-machines.ts';
import { MACHINE_NAMES, NODE_MACHINES } from '../../machines/charts/node-machines.ts';

/** How a machine can be written. */
export type MachineFormat = 'json' | 'xstate-json' | 'mermaid' | 'svg';
const FORMATS: readonly MachineFormat[] = ['json', 'xstate-json', 'mermaid', 'svg'];

/** `actorlet machines [NAME]`: the state machines as data or pictures; without a name a list of them. */
export function machinesCommand(write: (text: string) => void = (text) => process.stdout.write(text)): Command {
  return new Command('machines')
    .description('write the state machines of a node as data or pictures')
    .addArgument(new Argument('[name]', 'which machine; without it, the names').choices(MACHINE_NAMES))
    .addOption(
      new Option(
        '--format <format>',
        'json: states and transitions; xstate-json: for Stately Studio; mermaid: stateDiagram-v2; svg: a picture',
      )
        .choices(FORMATS)
        .default('json'),
    )
    .action(async (name: MachineName | undefined, { format }: { format: MachineFormat }) => {
      if (name === undefined) write(MACHINE_NAMES.map((known) => `${known}\n`).join(''));
      else write(await machineText(name, format));
    });
}

/** A machine in a format; ends with a newline. */
async function machineText(name: MachineName, format: MachineFormat): Promise<string> {
  const machine = NODE_MACHINES[name];
  switch (format) {
    case 'json':
      return `${JSON.stringify(chartOf(machine), null, 2)}\n`;
    case 'xstate-json':
      return `${JSON.stringify(machineConfig(machine), null, 2)}\n`;
    case 'mermaid':
      return mermaidOf(chartOf(machine));
    case 'svg': {
      // The layout library is loaded only for pictures.
      const { chartSvg } = await import('../../actors/inspect/charts/draw-chart.ts');
      return chartSvg(chartOf(machine));
    }
  }
}
