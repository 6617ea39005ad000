/**
 * Which room may import which (docs/architecture.md, "Rooms"). `bin/test` runs it; test/tooling/rooms.test.ts proves that each rule bites.
 * Runs on typescript 5.9: TypeScript 7's package exports no compiler API, and the cruiser would silently see nothing.
 * @type {import('dependency-cruiser').IConfiguration}
 */
const nodeCore = { dependencyTypes: ['core'] };

/** Path of an npm package as the cruiser resolves it. */
const packages = (...names) => `^node_modules/(?:${names.map((name) => name.replace(/[/.]/g, '\\$&')).join('|')})/`;

module.exports = {
  forbidden: [
    {
      name: 'machines-import-only-machines',
      comment: 'machines/ decides: state and message in, state and effects out. It knows no other room.',
      severity: 'error',
      from: { path: '^machines/' },
      to: { path: '^(?!machines/|node_modules/)', dependencyTypesNot: ['core'] },
    },
    {
      name: 'machines-no-node-api',
      comment: 'machines/ must replay byte for byte: no I/O, no clock, no randomness.',
      severity: 'error',
      from: { path: '^machines/' },
      to: nodeCore,
    },
    {
      name: 'machines-only-xstate-and-zod',
      comment: 'Types of @kubernetes/client-node are the only other import.',
      severity: 'error',
      from: { path: '^machines/' },
      to: { path: '^node_modules/', pathNot: packages('xstate', 'zod', '@kubernetes/client-node') },
    },
    {
      name: 'client-node-types-only',
      comment: 'Loading @kubernetes/client-node costs 0.9 s and 85 MiB: import its types only.',
      severity: 'error',
      from: { path: '^(?:machines|cri|actors|bin)/' },
      to: { path: packages('@kubernetes/client-node'), dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'cri-imports-only-machines-it-may',
      comment:
        'cri/ speaks CRI and knows nothing of pods: of the other rooms only the protocol types, the errors and plain values.',
      severity: 'error',
      from: { path: '^cri/' },
      to: { path: '^(?!cri/|node_modules/|machines/(?:errors|protocol|values)/)', dependencyTypesNot: ['core'] },
    },
    {
      name: 'cri-only-its-libraries',
      comment: 'gRPC, protobuf, and what the simulated and the private runtime need.',
      severity: 'error',
      from: { path: '^cri/' },
      to: {
        path: '^node_modules/',
        pathNot: packages(
          '@grpc/grpc-js',
          '@bufbuild/protobuf',
          'yaml',
          'zod',
          'tar-stream',
          '@types/tar-stream',
          'pino',
          '@types/node',
        ),
      },
    },
    {
      name: 'cri-pino-types-only',
      comment: 'cri/ takes a logger as parameter; it makes none.',
      severity: 'error',
      from: { path: '^cri/' },
      to: { path: packages('pino'), dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'actors-import-only-machines-and-cri',
      comment: 'actors/ does; bin/ and test/ stand above it.',
      severity: 'error',
      from: { path: '^actors/' },
      to: { path: '^(?!actors/|machines/|cri/|node_modules/)', dependencyTypesNot: ['core'] },
    },
    {
      name: 'nothing-imports-bin',
      comment: 'bin/ starts things; what others need of it belongs in actors/.',
      severity: 'error',
      from: { path: '^(?!bin/)', pathNot: '^test/' },
      to: { path: '^bin/' },
    },
    {
      name: 'sources-never-import-test',
      comment: 'The package ships without test/.',
      severity: 'error',
      from: { path: '^(?!test/)' },
      to: { path: '^test/' },
    },
    {
      name: 'sources-no-dev-dependencies',
      comment: 'The package is installed without devDependencies.',
      severity: 'error',
      // The page and what bundles it are packaging's: a package has the bundle.
      from: {
        path: '^(?:machines|cri|actors|bin)/',
        pathNot: '^(?:actors/inspect/inspector-page/|bin/(?:build-page|bundle)\\.ts$)',
      },
      to: { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only', 'npm'], pathNot: packages('@types/[^/]+') },
    },
    {
      name: 'no-cycles',
      comment: 'A cycle hides which part stands on which, be it of types only: the shared type gets a file of its own.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-circles-of-folders',
      comment:
        'Rooms stand on each other in one order (docs/architecture.md, "Rooms"): what two share lies below both.',
      severity: 'error',
      scope: 'folder',
      from: { path: '^(?:machines|cri|actors|bin)/' },
      to: { circular: true },
    },
    {
      name: 'no-unresolvable',
      comment: 'An import that leads nowhere escapes all other rules.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsConfig: { fileName: 'tsconfig.json' },
    // Type imports count too: a machine that knows an actor's type knows the actor.
    tsPreCompilationDeps: true,
    // The proof in test/tooling links node_modules into a copy of the tree.
    preserveSymlinks: true,
    doNotFollow: { path: '^node_modules/' },
    exclude: { path: '^(?:dist|coverage)/' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      extensions: ['.ts', '.js', '.cjs', '.mjs', '.json', '.d.ts'],
      mainFields: ['module', 'main', 'types'],
    },
    moduleSystems: ['es6', 'cjs'],
  },
};
