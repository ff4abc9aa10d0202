const common = {
  testEnvironment: '<rootDir>/test/support/jest/environment.mjs',
  runtime: '<rootDir>/test/support/jest/runtime.cjs',
  extensionsToTreatAsEsm: ['.ts'],
  setupFiles: ['<rootDir>/test/support/jest/property-seed.mjs'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        // Beside the code, not in it: V8 reads what stands in a module once for each test file.
        sourceMaps: true,
        jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
        module: { type: 'es6' },
      },
    ],
  },
};

const database = {
  globalSetup: '<rootDir>/test/support/jest/global-setup.mjs',
  globalTeardown: '<rootDir>/test/support/jest/global-teardown.mjs',
};
/** Unit tests that take more than a second: `npm run test:fast`, a part of `npm run check`, leaves them to `npm test`. */
const SLOW = [
  'aql/(fuzz|golden|grouping|masked|package|random|reference|render|rows)\\.',
  'aql/index/',
  'change/plan\\.',
  'merge/unmerge-plan\\.',
  'openehr/(base/xml|rm/read)\\.',
  'openehr/(format|template)/',
  'packages/codegen/',
  'packages/client/test/unit/(aql|transport)\\.',
  'routes/query-gate\\.',
  'src/(collection|config|env-file)\\.',
  'workers/',
  'embedded-mongodb/test/unit/(bson|command)\\.',
];
/**
 * `*.long.test.ts` kill servers, fill the engine, use up budgets, wait for limits of time, run commands by the dozen, look at pages in a browser,
 * go through all operations or queries over HTTP, or are the variations of a room whose operations and laws `npm test` has tried:
 * `npm run test:long`, a part of `.ci/run`.
 * `*.law.test.ts` try a law with random scripts: some in `npm test`, a tenth in `test:long`, all in `npm run test:laws`
 * (`test/support/laws.ts`).
 */
const NAMED = { laws: '*.law.test.ts', long: '*.{long,law}.test.ts', other: '!(*.long).test.ts' };
const named = NAMED[process.env.TEST_LAWS ? 'laws' : process.env.TEST_LONG ? 'long' : 'other'];
const fast = process.env.TEST_FAST ? { testPathIgnorePatterns: SLOW } : {};

/** So many run beside each other: as many as cores, of which each keeps its own and one of the database busy by turns. */
const LONG_WORKERS = process.env.MONGODB_URI ? 1 : 2;

const project = (displayName, extra = {}) => ({
  ...common,
  displayName,
  roots: ['<rootDir>/test', '<rootDir>/packages'],
  testMatch: [`<rootDir>/{,packages/*/}test/${displayName}/**/${named}`],
  ...extra,
});

export default {
  projects: [
    project('unit', fast),
    project('database', database),
    project('http', database),
    project('attack', database),
    // Programs of tools/, of Maven, pip and Go: `npm run check:clients`.
    ...(process.env.TEST_CLIENTS ? [project('clients', database)] : []),
  ],
  // What a test waits for is its own business, how quick a machine is nobody's: three times what the slowest takes beside two busy loops.
  // Compilers and registries of other languages take longer; a project has no limit of its own.
  testTimeout: process.env.TEST_CLIENTS ? 900_000 : 180_000,
  // Modules of each file stay in a worker's memory, 30 MB of them; beyond 4 GB it does little but collect garbage. A new worker
  // takes three seconds more for its first file.
  workerIdleMemoryLimit: '2200MB',
  // Not one less than cores: each waits for the database a third of its time. Long tests keep a database busy, and what
  // runs beside them in it would be refused: each worker has one of its own, unless one is given.
  maxWorkers: process.env.TEST_LONG ? LONG_WORKERS : 3,
  coverageProvider: 'v8',
  collectCoverageFrom: [
    '{src,cli,query,maintenance,config,openehr,packages/*/src,routes,workers,change,merge,models,database,aql}/**/*.ts',
  ],
};
