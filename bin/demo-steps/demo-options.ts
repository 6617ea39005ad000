import { parseArgs } from 'node:util';

/** What `bin/demo` was asked to do. */
export interface DemoOptions {
  check: boolean;
  /** Where the message log is left. */
  journal?: string;
  rootDir?: string;
  /** How long one step may take, in ms. */
  timeoutMs: number;
}

/** Reads the command line; throws an `Error` whose message is for the user. */
export function readDemoOptions(argv: readonly string[]): DemoOptions {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      check: { type: 'boolean', default: false },
      journal: { type: 'string' },
      'root-dir': { type: 'string' },
      timeout: { type: 'string', default: '120' },
      'no-install': { type: 'boolean', default: false },
    },
  });
  const seconds = Number(values.timeout);
  if (!Number.isFinite(seconds) || seconds <= 0) {
    throw new Error(`--timeout ${values.timeout}: give a number of seconds above 0.`);
  }
  return { check: values.check, journal: values.journal, rootDir: values['root-dir'], timeoutMs: seconds * 1000 };
}
