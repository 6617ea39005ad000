import { suggestion } from '../../actors/configure/configuration/closest-name.ts';
import { configErrors } from '../../machines/errors/config-errors.ts';
import { ActorletError } from '../../machines/errors/define.ts';
import { FLAGS_BY_NAME } from './all-flags.ts';
import { acceptedForm } from './flag-values.ts';

/** Names besides the table's that `--` may be followed by. */
const EXTRA = ['help', 'version'];

/**
 * Rewrites arguments as Go's pflag reads them into a form that commander reads alike: every flag becomes
 * `--name=value`, booleans get `=true`, underscores become hyphens, `-v4` becomes `--v=4`. The first argument that is
 * no flag ends the rewriting (a subcommand starts there). All unknown flags and missing values are found at once.
 */
export function goArguments(argv: readonly string[]): { args: string[]; errors: ActorletError[] } {
  const args: string[] = [];
  const errors: ActorletError[] = [];
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? '';
    if (argument === '-h' || argument === '--help') {
      args.push('--help');
      continue;
    }
    const verbosity = /^-v=?(.*)$/.exec(argument);
    if (verbosity && verbosity[1] !== '') {
      args.push(`--v=${verbosity[1]}`);
      continue;
    }
    const named = argument === '-v' ? '--v' : argument;
    if (!named.startsWith('--') || named === '--') {
      if (named.startsWith('-') && named.length > 1 && named !== '--') {
        // Go programs of old took `-config`; kubelet does not.
        const near = suggestion(named.slice(1).replace(/=.*/, ''), knownNames(), '--');
        errors.push(new ActorletError(configErrors.unknownFlag, { flag: named.replace(/=.*/, ''), suggestion: near }));
        continue;
      }
      args.push(...argv.slice(i));
      break;
    }
    const at = named.indexOf('=');
    const name = (at < 0 ? named.slice(2) : named.slice(2, at)).replaceAll('_', '-');
    const value = at < 0 ? undefined : named.slice(at + 1);
    if (name === 'no-journal' && (value === undefined || value === 'true')) {
      args.push('--journal=false');
      continue;
    }
    if (name === 'version') {
      args.push(`--version=${value ?? 'true'}`);
      continue;
    }
    const spec = FLAGS_BY_NAME.get(name);
    if (spec === undefined) {
      const near = suggestion(name, knownNames(), '--');
      errors.push(new ActorletError(configErrors.unknownFlag, { flag: `--${name}`, suggestion: near }));
      // What follows is most likely its value; the flags after that are still to be looked at.
      if (value === undefined && argv[i + 1]?.startsWith('-') === false) i++;
    } else if (value !== undefined) {
      args.push(`--${name}=${value}`);
    } else if (spec.kind === 'bool') {
      args.push(`--${name}=true`);
    } else if (spec.bare !== undefined) {
      args.push(`--${name}=${spec.bare}`);
    } else if (i + 1 < argv.length) {
      args.push(`--${name}=${argv[++i] ?? ''}`);
    } else {
      errors.push(new ActorletError(configErrors.flagNeedsValue, { flag: `--${name}`, accepted: acceptedForm(spec) }));
    }
  }
  return { args, errors };
}

function knownNames(): string[] {
  return [...FLAGS_BY_NAME.keys(), ...EXTRA, 'no-journal'];
}
