/** Who may import whom: one line per room, one generated rule each. */
const ROOMS = {
  base: [],
  rm: ['base'],
  template: ['base', 'rm'],
  format: ['base', 'rm', 'template'],
  aql: ['base', 'rm', 'models/layout.ts'],
  database: ['base'],
  models: ['base', 'rm', 'template', 'database'],
  change: ['base', 'rm', 'template', 'models', 'database'],
  merge: ['base', 'rm', 'models', 'change', 'database'],
  // Threads have no database: of change and models they see what is pure.
  workers: [
    'base',
    'rm',
    'template',
    'format',
    'models/derive.ts',
    'models/layout.ts',
    'change/content.ts',
    'change/large-composition.ts',
  ],
  routes: ['base', 'rm', 'template', 'format', 'aql', 'models', 'change', 'merge', 'workers'],
  src: [
    'base',
    'rm',
    'template',
    'format',
    'aql',
    'database',
    'models',
    'change',
    'merge',
    'routes',
    'workers',
  ],
};
const ALL = Object.keys(ROOMS).join('|');
const place = (allowed) => (allowed.endsWith('.ts') ? `^${allowed.replace('.', '\\.')}$` : `^${allowed}/`);

const roomRules = Object.entries(ROOMS).map(([room, allowed]) => ({
  name: `${room}-may-import`,
  comment: `${room} may import only: ${[room, ...allowed].join(', ')}`,
  severity: 'error',
  from: { path: `^${room}/` },
  to: { path: `^(${ALL}|test|bench)/`, pathNot: [room, ...allowed].map(place).join('|') },
}));

module.exports = {
  forbidden: [
    ...roomRules,
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'koa-only-at-the-edge',
      severity: 'error',
      from: { path: `^(${ALL})/`, pathNot: '^(routes|src)/' },
      to: { path: 'node_modules/(@koa/|koa)' },
    },
    {
      name: 'mongo-only-in-models-and-database',
      severity: 'error',
      from: { path: `^(${ALL})/`, pathNot: '^(models|database)/' },
      to: { path: 'node_modules/(mongoose|mongodb|mongodb-memory-server|@0q)' },
    },
    {
      name: 'threads-only-in-workers',
      severity: 'error',
      from: { path: `^(${ALL})/`, pathNot: '^workers/' },
      to: { path: 'node_modules/piscina' },
    },
    {
      name: 'product-never-imports-tests',
      severity: 'error',
      from: { path: `^(${ALL})/` },
      to: { path: '^(test|bench)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types'] },
  },
};
