import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { checkout, runTool, TreeCopy } from './tree-copy.ts';

const CRUISER = 'dependency-cruiser/bin/dependency-cruiser.mjs';
const ROOMS = ['machines', 'cri', 'actors', 'bin'];

/** Each offence: the file (or one of the folder) that commits it, its source, and the rule that must name it. */
const offences: [file: string, source: string, rule: string][] = [
  ['machines/bad/actors.ts', `import '../../actors/bad/ok.ts';`, 'machines-import-only-machines'],
  ['machines/bad/cri.ts', `import '../../cri/bad/ok.ts';`, 'machines-import-only-machines'],
  [
    'machines/bad/cri-type.ts',
    `import type { ok } from '../../cri/bad/ok.ts'; export type T = typeof ok;`,
    'machines-import-only-machines',
  ],
  ['machines/bad/fs.ts', `import { readFileSync } from 'node:fs'; export { readFileSync };`, 'machines-no-node-api'],
  ['machines/bad/bare-fs.ts', `import { readFileSync } from 'fs'; export { readFileSync };`, 'machines-no-node-api'],
  ['machines/bad/pino.ts', `import { pino } from 'pino'; export { pino };`, 'machines-only-xstate-and-zod'],
  [
    'machines/bad/client.ts',
    `import { V1Pod } from '@kubernetes/client-node'; export { V1Pod };`,
    'client-node-types-only',
  ],
  [
    'actors/bad/client.ts',
    `import { V1Pod } from '@kubernetes/client-node'; export { V1Pod };`,
    'client-node-types-only',
  ],
  ['cri/bad/actors.ts', `import '../../actors/bad/ok.ts';`, 'cri-imports-only-machines-it-may'],
  ['cri/bad/machine.ts', `import '../../machines/bad/ok.ts';`, 'cri-imports-only-machines-it-may'],
  ['cri/bad/fastify.ts', `import fastify from 'fastify'; export { fastify };`, 'cri-only-its-libraries'],
  ['cri/bad/xstate.ts', `import { setup } from 'xstate'; export { setup };`, 'cri-only-its-libraries'],
  ['cri/bad/pino.ts', `import { pino } from 'pino'; export { pino };`, 'cri-pino-types-only'],
  ['actors/bad/bin.ts', `import '../../bin/bad/ok.ts';`, 'nothing-imports-bin'],
  ['actors/bad/bin-too.ts', `import '../../bin/bad/ok.ts';`, 'actors-import-only-machines-and-cri'],
  ['bin/bad/test.ts', `import '../../test/bad/ok.ts';`, 'sources-never-import-test'],
  ['actors/bad/typescript.ts', `import ts from 'typescript'; export { ts };`, 'sources-no-dev-dependencies'],
  ['machines/bad/cycle-a.ts', `import { b } from './cycle-b.ts'; export const a = () => b;`, 'no-cycles'],
  [
    'machines/bad/type-cycle-a.ts',
    `import type { B } from './type-cycle-b.ts'; export interface A { b: B }`,
    'no-cycles',
  ],
  [
    'machines/bad/there.ts',
    `import { back } from '../worse/back.ts'; export const there = back;`,
    'no-circles-of-folders',
  ],
  [
    'actors/bad/deep/there.ts',
    `import type { Back } from '../../worse/back.ts'; export type There = Back;`,
    'no-circles-of-folders',
  ],
  ['machines/bad/lost.ts', `import './not-there.ts';`, 'no-unresolvable'],
];

/** Files that must pass: what the rules allow, so that a rule which forbids everything fails here. */
const innocents: [file: string, source: string][] = [
  // No file of these stands in a circle; their folders do.
  ['machines/worse/back.ts', `export const back = 1;`],
  ['machines/worse/cycle-on.ts', `import { other } from '../bad/other.ts'; export const on = other;`],
  ['machines/bad/other.ts', `export const other = 1;`],
  ['actors/worse/back.ts', `export type Back = 1;`],
  ['actors/worse/cycle-on.ts', `import type { Other } from '../bad/shallow/other.ts'; export type On = Other;`],
  ['actors/bad/shallow/other.ts', `export type Other = 1;`],
  [
    'machines/bad/ok.ts',
    `import { setup } from 'xstate'; import { z } from 'zod'; import type { V1Pod } from '@kubernetes/client-node'; export type P = V1Pod; export { setup, z };`,
  ],
  [
    'cri/bad/ok.ts',
    `import { Server } from '@grpc/grpc-js'; import type { Logger } from 'pino'; import { ActorletError } from '../../machines/errors/define.ts'; import { readFileSync } from 'node:fs'; export type L = Logger; export const ok = [Server, ActorletError, readFileSync];`,
  ],
  [
    'actors/bad/ok.ts',
    `import { pino } from 'pino'; import '../../cri/bad/ok.ts'; import '../../machines/bad/ok.ts'; export { pino };`,
  ],
  ['bin/bad/ok.ts', `import '../../actors/bad/ok.ts';`],
  ['test/bad/ok.ts', `import '../../bin/bad/ok.ts';`],
  ['machines/bad/cycle-b.ts', `import { a } from './cycle-a.ts'; export const b = () => a;`],
  ['machines/bad/type-cycle-b.ts', `import type { A } from './type-cycle-a.ts'; export interface B { a: A }`],
];

interface CruiseResult {
  modules: { source: string }[];
  summary: { violations: { from: string; to: string; rule: { name: string } }[] };
}

function cruise(json: string): CruiseResult['summary'] {
  return (JSON.parse(json) as CruiseResult).summary;
}

describe('import rules of the rooms', () => {
  const tree = new TreeCopy();
  let summary: CruiseResult['summary'];

  before(() => {
    for (const [file, source] of [...offences, ...innocents]) tree.plant(file, `${source}\n`);
    const done = tree.run(CRUISER, [...ROOMS, 'test', '--output-type', 'json']);
    assert.equal(done.stderr, '');
    summary = cruise(done.stdout);
  });
  after(() => tree.remove());

  for (const [file, , rule] of offences) {
    it(`${file} breaks ${rule}`, () => {
      const named = summary.violations
        .filter(({ from }) => from === file || file.startsWith(`${from}/`))
        .map((violation) => violation.rule.name);
      assert.ok(named.includes(rule), `${file}: expected ${rule}, got [${named.join(', ')}]`);
    });
  }

  it('lets through what the rooms allow', () => {
    // The two halves of a planted cycle name each other.
    const files = new Set(innocents.map(([file]) => file).filter((file) => !file.includes('cycle')));
    assert.deepEqual(
      summary.violations.filter((violation) => files.has(violation.from)),
      [],
    );
  });

  it('has an offence here for every rule', () => {
    const done = runTool(checkout, CRUISER, ['machines', '--output-type', 'json']);
    const rules = (JSON.parse(done.stdout) as { summary: { ruleSetUsed: { forbidden: { name: string }[] } } }).summary
      .ruleSetUsed.forbidden;
    assert.deepEqual([...new Set(offences.map(([, , rule]) => rule))].sort(), rules.map((rule) => rule.name).sort());
  });

  it('fails as a command when there is an offence', () => {
    const done = tree.run(CRUISER, [...ROOMS, '--output-type', 'err']);
    assert.notEqual(done.code, 0);
    assert.match(done.stdout, /machines-no-node-api: machines\/bad\/fs\.ts/);
  });

  it('sees this checkout: more than 50 modules, none in breach', () => {
    const done = runTool(checkout, CRUISER, [...ROOMS, '--output-type', 'json']);
    const own = (JSON.parse(done.stdout) as CruiseResult).modules.filter(({ source }) =>
      /^(machines|cri|actors|bin)\//.test(source),
    );
    assert.ok(own.length > 50, `only ${own.length} modules seen: is the TypeScript that the cruiser found a 5.x?`);
    const real = cruise(done.stdout);
    assert.deepEqual(
      real.violations.map((violation) => `${violation.rule.name}: ${violation.from} -> ${violation.to}`),
      [],
    );
  });
});
