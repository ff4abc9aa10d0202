import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';

const root = new URL('../../../', import.meta.url);
const text = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync(new URL('docs/', root))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** Which test runs a documented command: its file and a piece of it that does. Or why none can. */
const RUN_BY: Readonly<Record<string, readonly [file: string, piece: string] | string>> = {
  'npm ci': ['.ci/run', 'step npm ci'],
  'npm ci && npm run demo': ['.ci/run', 'step npm run demo'],
  'npm ci && npm test': ['.ci/run', 'npm test'],
  'npm run demo': ['.ci/run', 'step npm run demo'],
  'npm test': ['.ci/run', 'npm test'],
  'npm test -- --selectProjects unit --testPathPatterns test/unit/aql': 'a part of npm test',
  'npm run test:long': ['.ci/run', 'npm run test:long'],
  'npm start': ['test/http/process/several-processes.long.test.ts', 'startServerProcess'],
  'npm run check': ['.ci/run', 'step npm run check'],
  'npm run build': ['package.json', '"prepack": "npm run build"'],
  'npm run bench': 'measures for many minutes, on a quiet machine',
  'npm run soak': 'measures for many minutes, on a quiet machine',
  'npm run fix': 'changes the working copy of whoever runs it',
  'git config core.hooksPath .githooks': 'changes the working copy of whoever runs it',
  'node dist/src/everchart.mjs start': ['test/http/process/build.test.ts', 'dist/src/everchart.mjs'],
  'OTEL_EXPORTER_OTLP_ENDPOINT=http://collector:4318 everchart start': [
    'test/http/process/traces.test.ts',
    'OTEL_EXPORTER_OTLP_ENDPOINT: collector.url',
  ],
  'curl -i -X POST http://127.0.0.1:8080/rest/openehr/v1/ehr': [
    'test/http/process/command-line.long.test.ts',
    "'POST', '/ehr'",
  ],
  'everchart template compare': ['test/unit/cli/template-revision.test.ts', "'template', 'compare'"],
  'everchart template judge': [
    'test/http/process/command-line-revisions.long.test.ts',
    "'template', 'judge'",
  ],
  'everchart template test': ['test/unit/cli/template-revision.test.ts', "'template', 'test'"],
  'everchart template upload': ['test/http/process/command-line.long.test.ts', "'template', 'upload'"],
  'everchart codegen templates': [
    'packages/codegen/test/unit/template-module.test.ts',
    "'codegen', 'templates'",
  ],
  'everchart codegen queries': ['packages/codegen/test/http/queries.test.ts', "'codegen', 'queries'"],
  'everchart-aql-lsp': ['packages/aql-lsp/test/http/aql-lsp.test.ts', 'everchart-aql-lsp'],
  'everchart query': ['test/http/process/command-line.long.test.ts', "'query'"],
  'everchart export --extract --ehr': [
    'test/http/process/extract-command.long.test.ts',
    "'export', '--extract', '--ehr'",
  ],
  'everchart export': ['test/http/process/command-line.long.test.ts', "'export', '--local'"],
  'everchart import --local --dry-run': [
    'test/http/process/command-line.long.test.ts',
    "'import', '--local', '--dry-run'",
  ],
  'everchart import --undo': ['test/http/process/cut-over.long.test.ts', 'docs/migration.md'],
  'everchart import': ['test/http/process/command-line.long.test.ts', "run('import', file("],
  'everchart user add': ['test/http/access/basic-users.long.test.ts', "user(['add', 'ada'"],
  'everchart audit prune': ['test/http/process/command-line.long.test.ts', "['audit', 'prune'"],
  'everchart audit export': ['test/http/process/audit-export.test.ts', "'audit', 'export'"],
  'curl "$SERVER/rest/ehrs': ['test/http/access/access-report.test.ts', '/access'],
  'curl "$SERVER/rest/admin': ['test/http/admin/audit.test.ts', '/access'],
  'everchart backup': ['test/http/process/backup.test.ts', "'backup', '--output'"],
  'everchart backup --output store.backup --encrypt-to': [
    'test/http/process/backup-encrypted.long.test.ts',
    "'backup', '--output', file, ...keys",
  ],
  'everchart restore --check store.backup --identity': [
    'test/http/process/backup-encrypted.long.test.ts',
    "'restore', '--check', file, '--identity'",
  ],
  'everchart restore': ['test/http/process/backup-changed.long.test.ts', "'restore', '--check'"],
  'everchart migrate': ['test/http/process/cut-over.long.test.ts', "next('migrate"],
  'everchart compare': ['test/http/process/cut-over.long.test.ts', "next('compare"],
  'everchart verify --report': ['test/http/process/cut-over.long.test.ts', "next('verify --report"],
  'everchart verify': ['test/http/process/command-line.long.test.ts', "['verify']"],
  mongosh:
    'needs the MongoDB shell; packages/embedded-mongodb/test/database/access.long.test.ts connects with its driver',
  mongodump: 'needs MongoDB Database Tools and a replica set',
  mongorestore: 'needs MongoDB Database Tools and a replica set',
  'docker build': 'needs a container engine',
  'docker compose': 'needs a container engine',
  'kubectl apply': 'needs a Kubernetes cluster',
};

/** Commands of the shell blocks of a page, continued lines joined, comments gone. */
function commandsOf(page: string): string[] {
  return [...text(page).matchAll(/```sh\n(.*?)```/gs)].flatMap(([, block = '']) =>
    block
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .map((line) =>
        line
          .replace(/\s+#.*$/, '')
          .replace(/^npx /, '')
          .trim(),
      )
      .filter((line) => line !== ''),
  );
}

function entryOf(command: string): [string, readonly [string, string] | string] | undefined {
  const matching = Object.entries(RUN_BY).filter(
    ([known]) => command === known || command.startsWith(`${known} `) || command.startsWith(`${known}/`),
  );
  return matching.sort(([a], [b]) => b.length - a.length)[0];
}

/** Its own test runs every block of it: test/http/process/getting-started.test.ts */
const RUN_AS_A_WHOLE = 'docs/getting-started.md';

describe('every command shown in the documentation', () => {
  for (const page of PAGES.filter((name) => name !== RUN_AS_A_WHOLE)) {
    for (const command of commandsOf(page)) {
      it(`${page}: ${command.slice(0, 90)}`, () => {
        const entry = entryOf(command.startsWith('curl') ? command.split(/ -H|\/query/)[0]! : command);
        const known = command.includes('/query/aql')
          ? ['test/http/query/query.test.ts', 'query/aql']
          : entry?.[1];
        expect([command, known]).toEqual([command, expect.anything()]);
        if (typeof known === 'string') return;
        const [file, piece] = known as [string, string];
        expect(existsSync(new URL(file, root))).toBe(true);
        expect(text(file)).toContain(piece);
      });
    }
  }

  it('names only scripts that exist', () => {
    const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
    const named = PAGES.flatMap((page) =>
      [...text(page).matchAll(/npm run ([\w:]+)/g)].map(([, name]) => name!),
    );
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([]);
  });
});

it('CONTRIBUTING.md names only files that exist', () => {
  const walked =
    /^(?:routes|src|query|change|merge|models|aql|openehr|database|maintenance|workers|config|test|docs)\/\S+\.\w+$/;
  const named = [...text('CONTRIBUTING.md').matchAll(/`([^`\s]+)`/g)].map(([, name]) => name!);
  const files = named.filter((name) => walked.test(name));
  expect(files.length).toBeGreaterThan(40);
  expect(files.filter((name) => !existsSync(new URL(name, root)))).toEqual([]);
});

it('.ci/run runs each part of `npm run check`, with the unit tests as a part of `npm test`', () => {
  const { scripts } = JSON.parse(text('package.json')) as { scripts: Record<string, string> };
  const parts = scripts['check']!.split(' && ').filter((part) => part !== 'npm run test:fast');
  expect(parts.length).toBeGreaterThan(5);
  const run = text('.ci/run')
    .split('\n')
    .map((line) => line.trim());
  expect(parts.filter((part) => !run.includes(`step ${part}`))).toEqual([]);
});
