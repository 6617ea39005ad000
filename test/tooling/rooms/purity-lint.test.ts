import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { TreeCopy } from './tree-copy.ts';

const ESLINT = 'eslint/bin/eslint.js';

/** What a machine must not do, and the lint rule that says so. */
const impure: [name: string, source: string, rule: string][] = [
  ['await', `export async function f(x: Promise<number>): Promise<number> { return await x; }`, 'no-restricted-syntax'],
  ['async-arrow', `export const f = async () => {};`, 'no-restricted-syntax'],
  ['promise', `export const p = new Promise<void>((resolve) => { resolve(); });`, 'no-restricted-syntax'],
  ['promise-all', `export const p = (xs: number[]) => void Promise.all(xs);`, 'no-restricted-syntax'],
  ['dynamic-import', `export const m = () => void import('./ok.ts');`, 'no-restricted-syntax'],
  ['import-meta', `export const u = import.meta.url;`, 'no-restricted-syntax'],
  ['new-date', `export const d = new Date();`, 'no-restricted-syntax'],
  ['call-date', `export const d = Date();`, 'no-restricted-syntax'],
  ['locale', `export const s = (a: string, b: string) => a.localeCompare(b);`, 'no-restricted-syntax'],
  ['date-now', `export const t = Date.now();`, 'no-restricted-properties'],
  ['random', `export const r = Math.random();`, 'no-restricted-properties'],
  ['performance', `export const t = performance.now();`, 'no-restricted-globals'],
  ['process', `export const e = process.env;`, 'no-restricted-globals'],
  ['set-timeout', `setTimeout(() => {}, 1);`, 'no-restricted-globals'],
  ['set-interval', `setInterval(() => {}, 1);`, 'no-restricted-globals'],
  ['microtask', `queueMicrotask(() => {});`, 'no-restricted-globals'],
  ['crypto', `export const u = crypto.randomUUID();`, 'no-restricted-globals'],
  ['buffer', `export const b = Buffer.from('x');`, 'no-restricted-globals'],
  ['console', `console.log('x');`, 'no-restricted-globals'],
  ['global-this', `export const g = globalThis;`, 'no-restricted-globals'],
  ['fetch', `void fetch('http://x');`, 'no-restricted-globals'],
  [
    'node-fs',
    `import { readFileSync } from 'node:fs'; export { readFileSync };`,
    '@typescript-eslint/no-restricted-imports',
  ],
  [
    'node-type',
    `import type { Stats } from 'node:fs'; export type S = Stats;`,
    '@typescript-eslint/no-restricted-imports',
  ],
  ['bare-os', `import { hostname } from 'os'; export { hostname };`, '@typescript-eslint/no-restricted-imports'],
  ['pino', `import type { Logger } from 'pino'; export type L = Logger;`, '@typescript-eslint/no-restricted-imports'],
  [
    'client',
    `import { V1Pod } from '@kubernetes/client-node'; export { V1Pod };`,
    '@typescript-eslint/no-restricted-imports',
  ],
  ['any', `export const x: any = 1;`, '@typescript-eslint/no-explicit-any'],
];

const pure = `import { setup } from 'xstate';
import { z } from 'zod';
import type { V1Pod } from '@kubernetes/client-node';
import { ActorletError } from '../errors/define.ts';
export type P = V1Pod;
export const iso = (ms: number): string => new Date(ms).toISOString();
export const parsed = (text: string): number => Date.parse(text);
export const most = Math.max(1, 2);
export { setup, z, ActorletError };
`;

interface LintedFile {
  filePath: string;
  messages: { ruleId: string | null; message: string; severity: number }[];
}

describe('purity of machines/', () => {
  const tree = new TreeCopy();
  let code: number | null;
  let linted: LintedFile[];

  before(() => {
    for (const [name, source] of impure) tree.plant(`machines/bad/${name}.ts`, `${source}\n`);
    tree.plant('machines/bad/ok.ts', pure);
    tree.plant('actors/bad/floating.ts', `export async function f(): Promise<void> {}\nf();\n`);
    tree.plant('actors/bad/clock.ts', `export const now = (): number => Date.now();\n`);
    const done = tree.run(ESLINT, ['machines/bad', 'actors/bad', '--format', 'json']);
    assert.notEqual(done.stdout, '', done.stderr);
    code = done.code;
    linted = JSON.parse(done.stdout) as LintedFile[];
  });
  after(() => tree.remove());

  const rulesOf = (file: string): (string | null)[] => {
    const found = linted.find(({ filePath }) => filePath.endsWith(`/${file}`));
    assert.ok(found, `${file} was not linted`);
    return found.messages.map(({ ruleId }) => ruleId);
  };

  for (const [name, , rule] of impure) {
    it(`${name} breaks ${rule}`, () => {
      const rules = rulesOf(`machines/bad/${name}.ts`);
      assert.ok(rules.includes(rule), `expected ${rule}, got [${rules.join(', ')}]`);
    });
  }

  it('lets pure code through, a Date of a number included', () => assert.deepEqual(rulesOf('machines/bad/ok.ts'), []));
  it('lets other rooms read the clock', () => assert.deepEqual(rulesOf('actors/bad/clock.ts'), []));
  it('sees types: a floating promise is found', () =>
    assert.deepEqual(rulesOf('actors/bad/floating.ts'), ['@typescript-eslint/no-floating-promises']));
  it('fails as a command', () => assert.notEqual(code, 0));
});
