import { configErrors } from '../../../machines/errors/config-errors.ts';
import { ActorletError } from '../../../machines/errors/define.ts';
import { suggestion } from './closest-name.ts';
import { FEATURE_GATES, GATE_DEPENDENCIES } from './feature-gate-table.ts';

/** Which feature gates are on. */
export interface FeatureGates {
  /** Is the gate on? False for a name that does not exist. */
  enabled(name: string): boolean;
}

/** Settled gates, with every error and every warning about what was asked for. */
export interface ResolvedGates {
  gates: FeatureGates;
  errors: ActorletError[];
  warnings: string[];
}

/**
 * Settles the gates from `featureGates` or `--feature-gates`. `AllAlpha` and `AllBeta` set all gates of a stage
 * that are not named themselves. `whereOf` tells in which file or flag a gate was named.
 */
export function resolveFeatureGates(
  wanted: Readonly<Record<string, boolean>>,
  whereOf: (name: string) => string = () => 'featureGates',
): ResolvedGates {
  const errors: ActorletError[] = [];
  const warnings: string[] = [];
  const on = new Map<string, boolean>();
  for (const [name, [stage, preset]] of Object.entries(FEATURE_GATES)) {
    const group = stage === 'ALPHA' ? 'AllAlpha' : stage === 'BETA' ? 'AllBeta' : undefined;
    on.set(name, group !== undefined && group in wanted ? (wanted[group] ?? preset) : preset);
  }
  for (const [name, value] of Object.entries(wanted)) {
    const where = whereOf(name);
    const known = Object.hasOwn(FEATURE_GATES, name) ? FEATURE_GATES[name] : undefined;
    if (known === undefined) {
      errors.push(
        new ActorletError(configErrors.unknownGate, {
          where,
          name,
          suggestion: suggestion(name, Object.keys(FEATURE_GATES)),
        }),
      );
      continue;
    }
    const [stage, preset, locked] = known;
    if (locked && value !== preset) {
      const params = { where, name, got: String(value), locked: String(preset) };
      errors.push(new ActorletError(configErrors.lockedGate, params));
      continue;
    }
    on.set(name, value);
    if (stage === 'GA' || stage === 'DEPRECATED') {
      const word = stage === 'GA' ? 'GA' : 'deprecated';
      warnings.push(`Setting ${word} feature gate ${name}=${value}. It will be removed in a future release.`);
    }
  }
  if (errors.length === 0) {
    for (const [name, needs] of Object.entries(GATE_DEPENDENCIES)) {
      const missing = on.get(name) === true ? needs.filter((need) => on.get(need) !== true) : [];
      if (missing.length > 0) {
        const where = whereOf(name in wanted ? name : (missing.find((need) => need in wanted) ?? name));
        errors.push(new ActorletError(configErrors.gateDependency, { where, name, missing: missing.join(', ') }));
      }
    }
  }
  return { gates: { enabled: (name) => on.get(name) === true }, errors, warnings };
}
