// @ts-check
import { defineConfig } from 'eslint/config';
import regexp from 'eslint-plugin-regexp';
import tseslint from 'typescript-eslint';

/**
 * Three layers: strict rules for all code, the purity of `machines/` (docs/architecture.md, "Rooms"), and what tests may do.
 * Which room may import which is dependency-cruiser's job (.dependency-cruiser.cjs); here is only what a single file shows.
 */

const because = 'machines/ is pure: the same messages must give the same states and effects on replay.';

/** Names that read a clock, randomness, the process or the outside world. */
const impureGlobals = [
  'process',
  'performance',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'clearTimeout',
  'clearInterval',
  'clearImmediate',
  'queueMicrotask',
  'crypto',
  'Buffer',
  'console',
  'globalThis',
  'global',
  'fetch',
  'WebSocket',
  'Worker',
  'require',
  'Atomics',
  'SharedArrayBuffer',
  'WeakRef',
  'FinalizationRegistry',
];

/** What a stranger can write, be it only to a kernel file, must not hold a thread: see test/pure/bounds. */
const linearExpressions = [
  {
    selector: 'NewExpression[callee.name="RegExp"]:not([arguments.0.type="Literal"])',
    message: 'Write the expression out, so that lint can see that its time is linear; or say here why it is bounded.',
  },
];

const impureSyntax = [
  { selector: 'AwaitExpression', message: `No await. ${because}` },
  { selector: 'ForOfStatement[await=true]', message: `No for await. ${because}` },
  { selector: ':function[async=true]', message: `No async function. ${because}` },
  { selector: 'ImportExpression', message: `No dynamic import. ${because}` },
  { selector: 'MetaProperty[meta.name="import"]', message: `No import.meta. ${because}` },
  { selector: 'NewExpression[callee.name="Promise"]', message: `No promises. ${because}` },
  { selector: 'MemberExpression[object.name="Promise"]', message: `No promises. ${because}` },
  {
    selector: 'NewExpression[callee.name="Date"][arguments.length=0]',
    message: `No new Date() without an argument: time comes with the message (\`at\`). ${because}`,
  },
  { selector: 'CallExpression[callee.name="Date"]', message: `No Date(): it reads the clock. ${because}` },
  {
    selector: 'MemberExpression[property.name=/^toLocale/]',
    message: `No locale-dependent text: it differs between nodes. ${because}`,
  },
  {
    selector: 'MemberExpression[property.name="localeCompare"]',
    message: `Compare by code unit, not by locale. ${because}`,
  },
];

/** Anything that is neither relative nor one of the two libraries; types of the API client are handled by `clientNode`. */
const pureImports = {
  regex: '^(?!\\.{1,2}/)(?!(?:xstate|zod)(?:/|$))(?!@kubernetes/client-node$)',
  message: `Import only xstate, zod and machines/ itself. ${because}`,
};

/** Loading the API client costs 0.9 s and 85 MiB. */
const clientNode = {
  regex: '^@kubernetes/client-node',
  allowTypeImports: true,
  message: 'Import only types of @kubernetes/client-node: loading it costs 0.9 s and 85 MiB.',
};

export default defineConfig(
  { ignores: ['node_modules/', 'dist/', 'coverage/', '**/generated/', '**/*_pb.ts', 'test/fixtures/'] },
  {
    files: ['**/*.ts', '**/*.tsx'],
    extends: [...tseslint.configs.strict, ...tseslint.configs.stylistic],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    linterOptions: { reportUnusedDisableDirectives: 'error' },
    rules: {
      '@typescript-eslint/no-restricted-imports': ['error', { patterns: [clientNode] }],
      eqeqeq: ['error', 'always', { null: 'ignore' }],
      'no-console': 'error',
      'no-var': 'error',
      'prefer-const': 'error',
      'no-else-return': 'error',
      'no-implicit-coercion': ['error', { boolean: false }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'separate-type-imports' }],
      '@typescript-eslint/no-import-type-side-effects': 'error',
      // Type-aware rules: only those that catch real faults of concurrent code, so that a run stays short.
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': ['error', { checksVoidReturn: { arguments: false } }],
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/only-throw-error': 'error',
      // `_` marks a parameter that a signature demands and nobody reads.
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', ignoreRestSiblings: true }],
      // Matters of taste that cost more than they give.
      '@typescript-eslint/no-empty-function': 'off',
      '@typescript-eslint/consistent-type-definitions': 'off',
      '@typescript-eslint/class-literal-property-style': 'off',
      '@typescript-eslint/unified-signatures': 'off',
      // Plain JSON records are the maps of machine contexts.
      '@typescript-eslint/no-dynamic-delete': 'off',
      '@typescript-eslint/consistent-indexed-object-style': 'off',
    },
  },
  {
    // Product code: regular expressions whose time grows faster than the text are denial of service.
    files: ['machines/**/*.ts', 'cri/**/*.ts', 'actors/**/*.{ts,tsx}', 'bin/**/*.ts'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
      'no-restricted-syntax': ['error', ...linearExpressions],
    },
  },
  {
    files: ['bin/**/*.ts', 'docs/examples/*.ts'],
    rules: { 'no-console': 'off' },
  },
  {
    files: ['machines/**/*.ts'],
    rules: {
      'no-restricted-syntax': ['error', ...linearExpressions, ...impureSyntax],
      'no-restricted-globals': ['error', ...impureGlobals.map((name) => ({ name, message: because }))],
      'no-restricted-properties': [
        'error',
        { object: 'Date', property: 'now', message: because },
        { object: 'Math', property: 'random', message: because },
        { object: 'Intl', property: 'DateTimeFormat', message: because },
      ],
      '@typescript-eslint/no-restricted-imports': ['error', { patterns: [pureImports, clientNode] }],
    },
  },
  {
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-non-null-assertion': 'off',
      // node:test's `test()` and `describe()` return promises that the runner awaits.
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', package: 'node:test', name: ['test', 'it', 'describe', 'suite'] },
            { from: 'package', package: '@types/node', name: ['test', 'it', 'describe', 'suite'] },
          ],
        },
      ],
    },
  },
);
