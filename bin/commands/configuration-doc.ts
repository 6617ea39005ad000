import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Effect } from '../../actors/configure/configuration/effects/effect.ts';
import { FIELD_EFFECTS } from '../../actors/configure/configuration/effects/field-effects.ts';
import { GATE_EFFECTS, gatesOfOthers } from '../../actors/configure/configuration/effects/gate-effects.ts';
import { FEATURE_GATES } from '../../actors/configure/configuration/feature-gate-table.ts';
import { ALL_FLAGS } from '../flags/all-flags.ts';
import { flagEffect } from '../flags/flag-effect.ts';

const BEGIN = '<!-- Made by `npm run -s configuration-doc`; do not edit up to the next such line. -->';
const END = '<!-- End of what was made. -->';

/** The tables of docs/configuration.md: every field, flag and gate with what it acts on. */
export function configurationTables(): string {
  const flagOf = new Map(ALL_FLAGS.flatMap(({ name, field }) => (field === undefined ? [] : [[field, name] as const])));
  const fields = Object.entries(FIELD_EFFECTS).map(([field, effect]) => [
    code(field),
    flagOf.has(field) ? code(`--${flagOf.get(field)}`) : '',
    told(effect),
  ]);
  const flags = ALL_FLAGS.filter((flag) => flag.field === undefined).map((flag) => [
    code(`--${flag.name}`),
    told(flagEffect(flag)),
  ]);
  const gates = Object.entries(GATE_EFFECTS).map(([name, effect]) => [
    code(name),
    FEATURE_GATES[name]?.[1] === true ? 'on' : 'off',
    effect.kind === 'acts' ? effect.on : `**always ${effect.is ? 'on' : 'off'}**: ${effect.why}`,
  ]);
  return [
    '### Fields and their flags',
    table(['field', 'flag', 'acts on'], fields),
    '### Flags that are no fields',
    table(['flag', 'acts on'], flags),
    '### Feature gates that can be switched',
    table(['gate', 'default', 'switches'], gates),
    `Kubelet knows ${gatesOfOthers().length} more that can be switched and never asks for them, since they are of other components and libraries: ${gatesOfOthers().map(code).join(', ')}.`,
  ].join('\n\n');
}

/** The text of docs/configuration.md with its tables made anew. */
export function withTables(document: string): string {
  const from = document.indexOf(BEGIN);
  const to = document.indexOf(END);
  if (from < 0 || to < from) throw new Error(`docs/configuration.md lacks the lines ${BEGIN} and ${END}`);
  return `${document.slice(0, from)}${BEGIN}\n\n${configurationTables()}\n\n${document.slice(to)}`;
}

function told(effect: Effect): string {
  if (effect.kind === 'acts') return effect.on;
  const none = {
    kubelet: 'none in kubelet either',
    moot: 'none, since there is nothing to do',
  };
  return `${none[effect.kind]}: ${effect.why}`;
}

const code = (text: string) => `\`${text}\``;

/** Columns as wide as their longest cell, as Prettier writes them. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows].map((row) => row.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(3, ...all.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  const [first = [], ...rest] = all;
  return [line(first), line(widths.map((width) => '-'.repeat(width))), ...rest.map(line)].join('\n');
}

if (import.meta.main) {
  const path = join(import.meta.dirname, '..', '..', 'docs', 'configuration.md');
  writeFileSync(path, withTables(readFileSync(path, 'utf8')));
}
