import { parseArgs } from 'node:util';

/** What `bin/nodes-demo` was asked to do. */
export interface NodesDemoOptions {
  check: boolean;
  nodes: number;
  pods: number;
  /** Where API server and nodes listen. */
  address: string;
  /** Folder of the control plane's programs, looked into first. */
  binDir?: string;
  profile?: string;
  /** Shell command that is run with `KUBECONFIG` once all is ready; then everything is removed. */
  run?: string;
  /** How long one step may take, ms. */
  timeoutMs: number;
}

/** Reads the command line; throws an `Error` whose message is for the user. */
export function readNodesDemoOptions(argv: readonly string[]): NodesDemoOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      check: { type: 'boolean', default: false },
      count: { type: 'string', default: '100' },
      pods: { type: 'string', default: '200' },
      address: { type: 'string', default: '127.0.0.1' },
      'bin-dir': { type: 'string' },
      profile: { type: 'string' },
      run: { type: 'string' },
      timeout: { type: 'string', default: '120' },
      'no-install': { type: 'boolean', default: false },
    },
  });
  return {
    check: values.check,
    nodes: whole('--count', values.count, 1, 10_000),
    pods: whole('--pods', values.pods, 0, 100_000),
    address: values.address,
    ...(values['bin-dir'] !== undefined && { binDir: values['bin-dir'] }),
    ...(values.profile !== undefined && { profile: values.profile }),
    ...(values.run !== undefined && { run: values.run }),
    timeoutMs: whole('--timeout', values.timeout, 1, 86_400) * 1000,
  };
}

function whole(flag: string, value: string, least: number, most: number): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number >= least && number <= most) return number;
  throw new Error(`${flag} ${value}: give a whole number from ${least} to ${most}.`);
}
