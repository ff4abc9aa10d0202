/** Who may import whom: one line per room, one generated rule each. */
const OPENEHR = 'openehr';
const ROOMS = {
  openehr: [],
  // Pure: what policies of access say of objects.
  policy: [OPENEHR],
  config: [],
  // In the browser: it knows the server by HTTP alone, through the client.
  // What policies of access may ask for.
  console: ['packages/client', 'packages/aql', 'policy/schema.ts', 'policy/subject.ts'],
  'packages/embedded-mongodb': [],
  'packages/rm': [],
  // The room for editors and tools, in browsers too.
  'packages/aql': [OPENEHR, 'aql'],
  'packages/aql-lsp': ['packages/aql', 'packages/codegen'],
  'packages/codegen': [OPENEHR, 'packages/aql', 'packages/client'],
  // Types only: they are part of its declarations.
  'packages/client': ['packages/rm/src/generated/types.ts'],
  aql: [OPENEHR, 'policy/attributes.ts', 'policy/condition.ts'],
  database: [OPENEHR, 'config', 'packages/embedded-mongodb'],
  models: [OPENEHR, 'policy', 'aql/index', 'aql/mongo', 'database'],
  change: [OPENEHR, 'policy', 'aql/index', 'config', 'models', 'database'],
  merge: [OPENEHR, 'aql/index', 'config', 'models', 'change', 'database'],
  maintenance: [
    OPENEHR,
    'aql/index',
    'config',
    'models',
    'change',
    'database',
    // What an integrity check and a repair must agree upon.
    'merge/replay/harm.ts',
  ],
  query: [OPENEHR, 'policy', 'aql', 'config', 'models', 'change', 'database', 'workers'],
  // Threads have no database: of change and models they see what is pure.
  workers: [
    OPENEHR,
    'aql',
    'models/access/layout.ts',
    'models/inflated.ts',
    'models/read-contents.ts',
    'change/content/content.ts',
    'change/content/large-composition.ts',
  ],
  routes: [
    OPENEHR,
    'policy',
    'aql',
    'config',
    'models',
    'change',
    'merge',
    'maintenance',
    'query',
    'workers',
    // Whether a failure may have left a write behind decides what becomes of its Idempotency-Key.
    'database/mongo-error.ts',
    // What a request said in vain is counted by who listens.
    'database/events.ts',
    // The words for what people did, which the report of a patient and the console share.
    'console/src/record/visits.ts',
    'console/src/messages/deeds.de.ts',
    'console/src/messages/deeds.en.ts',
  ],
  src: [
    OPENEHR,
    'policy',
    'aql',
    'config',
    'database',
    'models',
    'change',
    'merge',
    'maintenance',
    'query',
    'routes',
    'workers',
  ],
  cli: [
    OPENEHR,
    'policy',
    'aql',
    'config',
    'database',
    'models',
    'change',
    'merge',
    'maintenance',
    'query',
    'routes',
    'src',
    'packages/aql',
    'packages/client',
    'packages/codegen',
    'packages/embedded-mongodb',
  ],
};
/** Inside a room or a folder: its folders (`.`: its own files), and which of the others each may import. */
const FLOORS = {
  openehr: {
    base: [],
    rm: ['base'],
    template: ['base', 'rm'],
    format: ['base', 'rm', 'template'],
  },
  'openehr/rm': {
    model: [],
    terminology: [],
    '.': ['model'],
    invariants: ['.', 'model', 'terminology'],
  },
  'openehr/template': {
    opt: [],
    'web-template': ['opt'],
    validate: ['opt', 'web-template'],
    '.': ['opt', 'validate', 'web-template'],
    example: ['.', 'opt', 'validate', 'web-template'],
    difference: ['.', 'opt', 'validate', 'web-template', 'example'],
    upgrade: ['.', 'opt', 'web-template', 'example'],
  },
  'openehr/format': {
    '.': [],
    flat: ['.'],
    composition: ['.', 'flat'],
  },
  aql: {
    syntax: [],
    semantics: ['syntax'],
    index: ['syntax', 'semantics'],
    plan: ['semantics', 'index'],
    mongo: ['syntax', 'semantics', 'index', 'plan'],
    // The second implementation, which knows nothing of the first.
    evaluate: ['syntax', 'semantics'],
    result: ['syntax', 'semantics', 'index', 'plan'],
  },
  models: {
    // Names and indexes of all collections, how one is described, read and written, and who owns what while a merge moves.
    access: [],
    '.': ['access'],
    definition: ['access'],
    merge: ['access', '.'],
    'cross-collection': ['access', '.', 'definition', 'merge'],
  },
  change: {
    // What a COMPOSITION, EHR_STATUS or FOLDER must be, without a database.
    content: [],
    terminology: [],
    // For whom a request runs, where policies are enforced.
    access: [],
    commit: ['access', 'content', 'terminology'],
    approval: ['commit'],
    definition: ['approval', 'commit'],
    composition: ['access', 'commit', 'content', 'definition', 'terminology'],
    draft: ['access', 'commit'],
    'item-tag': ['access', 'commit'],
    policy: ['approval', 'commit'],
    '.': ['access', 'commit', 'composition', 'content'],
    contribution: ['.', 'access', 'commit', 'composition', 'content'],
  },
  routes: {
    http: [],
    definition: ['http'],
    query: ['definition', 'http'],
    tag: ['http'],
    ehr: ['http', 'tag'],
    system: ['http'],
    admin: ['definition', 'ehr', 'http', 'query'],
  },
  'routes/http': {
    failure: [],
    negotiation: [],
    openapi: ['failure'],
    operation: ['failure', 'openapi'],
    request: ['failure', 'negotiation', 'operation'],
    answer: ['failure', 'request'],
    '.': ['answer', 'failure', 'negotiation', 'openapi', 'operation', 'request'],
  },
  src: {
    // Who gets how much of the process.
    admission: [],
    management: [],
    identity: ['admission'],
    middleware: ['admission', 'identity', 'management'],
    settings: ['admission', 'identity', 'middleware'],
    tracing: ['middleware'],
    '.': ['admission', 'identity', 'management', 'middleware', 'settings', 'tracing'],
    process: ['.', 'management', 'settings', 'tracing'],
  },
  'aql/semantics': {
    '.': [],
    scope: ['.'],
    bind: ['.'],
  },
  'aql/plan': {
    '.': [],
    passes: ['.'],
  },
  'aql/mongo': {
    document: [],
    value: [],
    pipeline: ['document'],
    path: ['document', 'value', 'pipeline'],
    where: ['value', 'path'],
    from: ['document', 'path'],
    select: ['value', 'path'],
    '.': ['document', 'pipeline', 'path', 'where', 'from', 'select', 'value'],
  },
};
const ALL = Object.keys(ROOMS).join('|');
/** The files of a folder; of `.` those that stand in no folder of the room. */
const floorPath = (room, floor) => (floor === '.' ? `^${room}/[^/]+$` : `^${room}/${floor}/`);
const place = (allowed) => (allowed.endsWith('.ts') ? `^${allowed.replace('.', '\\.')}$` : `^${allowed}/`);

const roomRules = Object.entries(ROOMS).map(([room, allowed]) => ({
  name: `${room}-may-import`,
  comment: `${room} may import only: ${[room, ...allowed].join(', ')}`,
  severity: 'error',
  // Tests of a package may use the product, as those below test/ do.
  from: { path: `^${room}/`, pathNot: '^packages/[^/]+/test/' },
  to: { path: `^(${ALL}|test|bench)/`, pathNot: [room, ...allowed].map(place).join('|') },
}));

const floorRules = Object.entries(FLOORS).flatMap(([room, floors]) =>
  Object.entries(floors).map(([floor, allowed]) => ({
    name: `${room}/${floor}-may-import`,
    comment: `of ${room}, ${floor} may import only: ${[floor, ...allowed].join(', ')}`,
    severity: 'error',
    from: { path: floorPath(room, floor) },
    to: { path: `^${room}/`, pathNot: [floor, ...allowed].map((each) => floorPath(room, each)).join('|') },
  })),
);

module.exports = {
  forbidden: [
    ...roomRules,
    ...floorRules,
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
      from: { path: `^(${ALL})/`, pathNot: '^(models|database|packages/embedded-mongodb)/' },
      to: { path: 'node_modules/(mongoose|mongodb|mongodb-memory-server-core|@0q)' },
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
      from: { path: `^(${ALL})/`, pathNot: '^packages/[^/]+/test/' },
      to: { path: '^(test|bench|packages/embedded-mongodb/test)/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'types'] },
  },
};
