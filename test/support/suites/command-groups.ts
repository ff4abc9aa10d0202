import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Settings } from '../../../config/settings.js';
import { compositionsOfPatient, seededRandom } from '../../../cli/demo/patient.js';
import { withoutAttributes } from '../../../openehr/rm/access.js';
import { hashPassword } from '../../../src/identity/password.js';
import { changeUsers } from '../../../src/identity/users-file.js';
import { loadConfig } from '../../../src/settings/config.js';
import request from 'supertest';
import { STATUS } from '../api/world.js';
import { testApp, useServer } from '../app.js';
import { useDatabase } from '../database.js';
import { runHere, type CommandResult } from '../process/command-line.js';
import { ADMIN, WITH_ADMIN } from '../tokens.js';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** What makes JavaScript of the sources. */
const LOADER: readonly string[] = ['esbuild', 'get-tsconfig', 'resolve-pkg-maps', 'tsx'];
const OPTS = fileURLToPath(new URL('../../fixtures/openehr/opt', import.meta.url));
const compositions = compositionsOfPatient(seededRandom(3), 4);

/** The groups of words that ask a server over HTTP, as a person types them. */
export function commandGroupsSuite(edition: string, settings: Partial<Settings>): void {
  useDatabase();
  const server = useServer(testApp({ ...WITH_ADMIN, auditReads: true, ...settings }));
  const folder = mkdtempSync(join(tmpdir(), 'everchart-groups-'));
  const file = (name: string): string => join(folder, name);

  const run = (...args: string[]): Promise<CommandResult> =>
    runHere(...args, '--url', server.url, '--token', ADMIN.replace('Bearer ', ''));

  /** What a command prints that ends well. */
  async function printed(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await run(...args);
    expect([args, code, stderr]).toEqual([args, 0, expect.any(String)]);
    return stdout.trimEnd();
  }

  /** The same as JSON. */
  const json = async <T>(...args: string[]): Promise<T> => JSON.parse(await printed(...args, '--json')) as T;

  beforeAll(async () => {
    for (const name of [
      'ehrbase_blood_pressure_simple.de.v0',
      'Corona_Anamnese',
      'ehrbase_multi_occurrence.de.v1',
    ])
      await printed('template', 'upload', `${OPTS}/${name}.opt`);
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  /** Of which packages and rooms `everchart` loads a module with these words: from its sources, for a build puts rooms together. */
  async function loaded(...args: readonly string[]): Promise<string[]> {
    const report = file('loaded.txt');
    const hooks = `import { appendFileSync } from 'node:fs';
      export async function load(url, context, next) {
        appendFileSync(${JSON.stringify(report)}, url + '\\n');
        return next(url, context);
      }`;
    const hook = file('loaded.mjs');
    writeFileSync(report, '');
    writeFileSync(
      hook,
      `import { register } from 'node:module';
      register('data:text/javascript,' + ${JSON.stringify(encodeURIComponent(hooks))});`,
    );
    const child = spawn(process.execPath, [join(ROOT, 'src/everchart.mjs'), ...args], {
      cwd: folder,
      env: { ...process.env, NODE_OPTIONS: `--import=${hook}` },
      stdio: 'ignore',
    });
    await once(child, 'close');
    const root = pathToFileURL(ROOT).href;
    const names = readFileSync(report, 'utf8')
      .split('\n')
      .filter((url) => url.startsWith(root))
      .map((url) => /^(?:node_modules\/)?([^/]+)\//.exec(url.slice(root.length))?.[1] ?? '');
    return [...new Set(names)].filter((name) => !LOADER.includes(name)).sort();
  }

  describe('what a person waits for', () => {
    const COMMANDS = ['cli', 'commander', 'routes', 'src'];
    it.each([
      [['--version'], COMMANDS],
      [['--help'], COMMANDS],
      [
        ['ehr', '--help'],
        [...COMMANDS, 'cli-table3', 'openehr', 'packages'],
      ],
    ])('%j loads nothing of what other words are made of', async (words, rooms) => {
      expect(await loaded(...words)).toEqual([...rooms].sort());
    });
  });

  describe('ehr', () => {
    it('creates, prints, finds, lists and erases', async () => {
      const id = randomUUID();
      expect(await printed('ehr', 'create', '--id', id)).toBe(id);
      const patient = randomUUID();
      const { ehr_id: ofPatient } = await json<{ ehr_id: string }>(
        ...['ehr', 'create', '--subject-id', patient, '--subject-namespace', 'mpi'],
      );
      expect(await printed('ehr', 'get', ofPatient)).toContain(ofPatient);
      expect(await json('ehr', 'get', ofPatient)).toMatchObject({ ehr_id: { value: ofPatient } });
      expect(await printed('ehr', 'find', patient)).toMatch(new RegExp(`${ofPatient}.*mpi ${patient}`));
      const all = await json<{ ehr_id: string }[]>('ehr', 'list');
      expect(all.map(({ ehr_id }) => ehr_id)).toEqual(expect.arrayContaining([id, ofPatient]));
      const unasked = await run('ehr', 'delete', id);
      expect([unasked.code, unasked.stderr]).toEqual([1, expect.stringContaining('--yes does it')]);
      expect(await printed('ehr', 'get', id)).toContain(id);
      expect(await printed('ehr', 'delete', id, '--yes')).toContain('is erased');
      expect((await run('ehr', 'get', id)).code).toBe(1);
    });

    it('takes both halves of a subject or none', async () => {
      expect((await run('ehr', 'create', '--subject-id', 'x')).code).toBe(2);
    });
  });

  describe('composition', () => {
    it('commits, corrects, prints in every format, lists versions, and deletes', async () => {
      const ehrId = await printed('ehr', 'create');
      writeFileSync(file('one.json'), JSON.stringify(compositions[0]));
      const { uid: first } = await json<{ uid: string }>(
        ...['composition', 'create', ehrId, file('one.json'), '--committer', 'Ada Moe'],
      );
      const second = await printed(
        ...['composition', 'update', ehrId, first, file('one.json'), '--description', 'corrected'],
      );
      const [id = ''] = first.split('::');
      expect(second).toBe(first.replace(/1$/, '2'));
      const versions = await json<{ committer?: string; description?: string }[]>(
        ...['composition', 'history', ehrId, id],
      );
      expect(versions).toMatchObject([{ committer: 'Ada Moe' }, { description: 'corrected' }]);
      expect(JSON.parse(await printed('composition', 'get', ehrId, id))).toMatchObject({
        _type: 'COMPOSITION',
      });
      expect(await printed('composition', 'get', ehrId, id, '--format', 'XML')).toMatch(/^<\?xml|^</);
      const flat = await printed('composition', 'get', ehrId, id, '--format', 'FLAT');
      writeFileSync(file('flat.json'), flat);
      const template = (compositions[0] as { archetype_details?: { template_id?: { value: string } } })
        .archetype_details?.template_id?.value;
      await printed('composition', 'create', ehrId, file('flat.json'), '--template', template ?? '');
      expect(await json('composition', 'list', ehrId)).toHaveLength(2);
      expect(await printed('composition', 'delete', ehrId, second)).toContain('is deleted');
      expect((await run('composition', 'get', ehrId, id)).stderr).toContain('is deleted');
    });

    it('says each finding of a refusal on a line of its own', async () => {
      const ehrId = await printed('ehr', 'create');
      writeFileSync(
        file('bad.json'),
        JSON.stringify(withoutAttributes(compositions[0]!, ['language', 'territory'])),
      );
      const { code, stderr } = await run('composition', 'create', ehrId, file('bad.json'));
      expect(code).toBe(1);
      expect(stderr.split('\n').filter((line) => line.startsWith('  '))).toHaveLength(2);
      writeFileSync(file('neither.json'), 'hello');
      expect((await run('composition', 'create', ehrId, file('neither.json'))).stderr).toContain(
        'neither.json: it is neither XML nor JSON',
      );
    });
  });

  describe('template', () => {
    it('lists every version of each', async () => {
      const opt = readFileSync(`${OPTS}/minimal_evaluation.en.v1.opt`, 'utf8');
      const ids = ['versions.v1', 'versions.v2'];
      for (const id of ids) {
        writeFileSync(file(`${id}.opt`), opt.replace('>minimal_evaluation.en.v1<', `>${id}<`));
        await printed('template', 'upload', file(`${id}.opt`));
      }
      const listed = await json<{ template_id: string }[]>('template', 'list');
      expect(listed.map(({ template_id }) => template_id)).toEqual(expect.arrayContaining(ids));
    });

    it('has revisions, and data that move from one to the next', async () => {
      const opt = readFileSync(`${OPTS}/minimal_evaluation.en.v1.opt`, 'utf8');
      const id = 'revised.v1';
      const first = opt.replaceAll('>minimal_evaluation.en.v1<', `>${id}<`);
      for (const [name, text] of [
        ['first.opt', first],
        ['second.opt', first.replace('<units>gm</units>', '<units>g</units>')],
      ] as const) {
        writeFileSync(file(name), text);
        const revising = testApp({ ...WITH_ADMIN, ...settings, templateRevisions: true });
        const sent = request(revising).post('/rest/openehr/v1/definition/template/adl1.4');
        const answer = await sent.set('Content-Type', 'application/xml').send(text);
        expect(answer.status).toBe(201);
      }
      const revisions = await json<{ revision: string }[]>('template', 'revisions', id);
      expect(revisions.map(({ revision }) => revision)).toEqual(['2', '1']);
      writeFileSync(file('rules.json'), '{"rules": []}');
      const plan = await printed('template', 'upgrade', id, file('rules.json'));
      expect(plan).toBe('1 to 2: 0 valid as they are, 0 by the rules, 0 not');
      const done = await json<{ state: string }>('template', 'upgrade', id, file('rules.json'), '--yes');
      expect(done.state).toBe('done');
    });
  });

  describe('query', () => {
    it('that is stored without a version gets that of the edition', async () => {
      const name = 'org.example::twice';
      writeFileSync(file('twice.aql'), 'SELECT COUNT(*) AS n FROM EHR e');
      const store = () => printed('query', 'store', name, file('twice.aql'));
      const versions = edition === '1.1.0' ? ['1.0.0', '1.0.0'] : ['1.0.0', '2.0.0'];
      expect([await store(), await store()]).toEqual(versions);
      for (const version of new Set(versions)) await printed('query', 'delete', name, version, '--yes');
    });

    it('stores, lists, shows, runs and erases', async () => {
      writeFileSync(file('count.aql'), 'SELECT COUNT(*) AS n FROM EHR e');
      const name = 'org.example::count';
      expect(await printed('query', 'store', name, file('count.aql'), '--as', '1.0.0')).toBe('1.0.0');
      expect(await json('query', 'list')).toEqual([expect.objectContaining({ name, version: '1.0.0' })]);
      expect(await printed('query', 'show', name, '1')).toBe('SELECT COUNT(*) AS n FROM EHR e');
      expect(await printed('query', '--stored', name)).toMatch(/^n\n-+\n\s*\d+\n1 row$/);
      for (const format of ['csv', 'ndjson'])
        expect(await printed('query', 'run', '--stored', `${name}/1.0.0`, '--format', format)).toMatch(/n/);
      expect(await json('query', 'SELECT COUNT(*) AS n FROM EHR e')).toMatchObject({
        columns: [{ name: 'n' }],
      });
      await printed('query', 'delete', name, '1.0.0', '--yes');
      expect(await json('query', 'list')).toEqual([]);
      expect((await run('query', 'SELECT 1', '--stored', name)).code).toBe(2);
    });
  });

  describe('merge', () => {
    it('finds candidates, says what it would do, merges, and takes it back', async () => {
      const patient = randomUUID();
      const subject = (namespace: string) =>
        ['--subject-id', patient, '--subject-namespace', namespace] as const;
      const source = await printed('ehr', 'create', ...subject('a'));
      const target = await printed('ehr', 'create', ...subject('b'));
      const found = await printed('merge', 'candidates', '--ehr', source);
      expect(found).toContain(target);
      const all = await json<object[]>('merge', 'candidates');
      expect(all.length).toBeGreaterThan(0);
      await printed('merge', 'run', source, target, '--dry-run');
      expect(await json('merge', 'list')).toEqual([]);
      expect(await printed('merge', 'run', source, target, '--reason', 'same person')).toContain('merge ');
      expect(await json('merge', 'list')).toMatchObject([{ source_ehr: source, target_ehr: target }]);
      expect(await json('merge', 'show', source, target)).toMatchObject({ source_ehr: source });
      await printed('merge', 'undo', source, target);
      expect(await printed('ehr', 'get', source)).toContain(source);
      const again = await run('merge', 'undo', source, target);
      expect([again.code, again.stderr]).not.toEqual([0, '']);
    });
  });

  describe('audit and job', () => {
    it('print who did what, and what goes on', async () => {
      const ehrId = await printed('ehr', 'create');
      await printed('ehr', 'get', ehrId);
      const seen = await json<{ operation: string }[]>('audit', 'access', ehrId);
      expect(seen.map(({ operation }) => operation)).toContain('ehr_get_by_id');
      const created = await json<{ operation: string }[]>(
        ...['audit', 'list', '--ehr', ehrId, '--operation', 'ehr_create', '--fetch', '5'],
      );
      expect(created).toMatchObject([{ operation: 'ehr_create', status: 201 }]);
      expect(await printed('audit', 'list', '--fetch', '3')).toContain('operation');
      expect(await printed('job', 'list')).toBe('no job runs');
      expect(await json('job', 'wait')).toEqual([]);
    });
  });

  describe('a server with passwords', () => {
    const PASSWORD = 'pass word@:/';
    const users = join(folder, 'users');
    const locked = useServer((...both) => app(...both));
    let app: ReturnType<typeof testApp>;
    beforeAll(async () => {
      const scrypt = await hashPassword(PASSWORD);
      changeUsers(users, () => new Map([['ada', { name: 'ada', roles: ['USER'], scrypt }]]));
      app = testApp(loadConfig({ AUTH: 'basic', BASIC_USERS_FILE: users, LOG_LEVEL: 'silent' }));
    });
    const asked = async (
      env: Readonly<Record<string, string>>,
      ...args: string[]
    ): Promise<CommandResult> => {
      const before = { ...process.env };
      Object.assign(process.env, env);
      try {
        return await runHere('template', 'list', '--json', ...args);
      } finally {
        process.env = before;
      }
    };

    it('is reached by option, by environment and by address, and no message shows the password', async () => {
      const { url } = locked;
      const inUrl = url.replace('//', `//ada:${encodeURIComponent(PASSWORD)}@`);
      const ways = [
        await asked({ EVERCHART_PASSWORD: PASSWORD }, '--url', url, '--user', 'ada'),
        await asked({ EVERCHART_URL: url, EVERCHART_USER: 'ada', EVERCHART_PASSWORD: PASSWORD }),
        await asked({ EVERCHART_TOKEN: 'x' }, '--url', url, '--user', `ada:${PASSWORD}`),
        await asked({}, '--url', inUrl),
        await asked({ PORT: new URL(url).port, EVERCHART_USER: 'ada', EVERCHART_PASSWORD: PASSWORD }),
      ];
      expect(ways.map(({ code, stderr }) => [code, stderr])).toEqual(ways.map(() => [0, '']));
      const failing = [
        await asked({}, '--url', `http://ada:${encodeURIComponent(PASSWORD)}@127.0.0.1:1`),
        await asked({}, '--url', `http://ada:${PASSWORD}@x`),
        await asked({ EVERCHART_PASSWORD: `${PASSWORD}x` }, '--url', url, '--user', 'ada'),
        await asked({}, '--url', url, '--user', 'ada', '--token', 'x'),
        await asked({}, '--url', url, '--user', 'ada'),
      ];
      for (const { code, stderr } of failing) {
        expect([code, stderr]).toEqual([1, expect.stringMatching(/./)]);
        expect(stderr).not.toContain('pass w');
        expect(stderr).not.toContain('pass%20');
      }
    });
  });

  describe('completion', () => {
    it.each(['bash', 'zsh', 'fish'])('of %s names every command and option', async (shell) => {
      const { code, stdout, stderr } = await runHere('completion', shell);
      expect([code, stderr]).toEqual([0, '']);
      for (const word of ['composition', 'max-errors', 'undo', 'completion']) expect(stdout).toContain(word);
    });

    it('of bash answers what may follow', async () => {
      const { stdout: script } = await runHere('completion', 'bash');
      writeFileSync(file('completion.bash'), script);
      const answered = (...words: string[]): string[] =>
        execFileSync('bash', [
          '-c',
          `source ${file('completion.bash')}; COMP_WORDS=(everchart "$@"); COMP_CWORD=$#; _everchart; echo "\${COMPREPLY[*]}"`,
          'bash',
          ...words,
        ])
          .toString()
          .trim()
          .split(' ');
      expect(answered('au')).toEqual(['audit']);
      expect(answered('merge', 'u')).toEqual(['undo']);
      expect(answered('import', '--max')).toEqual(['--max-errors']);
      expect(answered('query', '--url', 'x', '')).toContain('store');
    });
  });

  describe('import', () => {
    const ndjson = (records: readonly object[]): string =>
      records.map((record) => `${JSON.stringify(record)}\n`).join('');
    const unknown = {
      ...compositions[0],
      archetype_details: {
        _type: 'ARCHETYPED',
        archetype_id: { value: 'openEHR-EHR-COMPOSITION.encounter.v1' },
        template_id: { value: 'missing.v1' },
        rm_version: '1.0.4',
      },
    };
    const count = async (): Promise<number> => {
      const { rows } = await json<{ rows: number[][] }>('query', 'SELECT COUNT(*) AS n FROM EHR e');
      return rows[0]![0]!;
    };

    it('leaves no EHR behind for records whose template is missing, and counts their cause once', async () => {
      const before = await count();
      const good = randomUUID();
      const records = [
        ...Array.from({ length: 61 }, () => ({ ehr_id: randomUUID(), composition: unknown })),
        { ehr_id: randomUUID(), flat: { x: 1 }, template_id: 'missing.v1' },
        { ehr_id: good, composition: unknown },
        { ehr_id: good, composition: compositions[1] },
      ];
      writeFileSync(file('missing.ndjson'), ndjson(records));
      const { code, stdout, stderr } = await run('import', file('missing.ndjson'));
      expect([code, stdout]).toEqual([1, expect.stringMatching(/^1 imported, 0 there already, 63 failed/)]);
      expect(stderr).toMatch(/^ {2}63 × 422 .*missing\.v1.*, first in line 1$/m);
      expect(await count()).toBe(before + 1);
      const [line = ''] = readFileSync(`${file('missing.ndjson')}.import-errors.ndjson`, 'utf8').split('\n');
      expect(JSON.parse(line)).toMatchObject({ line: 1, ehr_id: records[0]!.ehr_id, status: 422 });
    });

    it('names line and cause of each broken line, and leaves nothing half of it', async () => {
      const before = await count();
      const [whole, torn] = [randomUUID(), randomUUID()];
      const line = (ehrId: string, index: number): string =>
        JSON.stringify({ ehr_id: ehrId, composition: compositions[index] });
      const two = { versions: compositions.slice(0, 2).map((data) => ({ data })) };
      const badSecond = { versions: [two.versions[0], { data: unknown }] };
      writeFileSync(
        file('broken.ndjson'),
        [
          line(whole, 0),
          line(torn, 1).slice(0, -40),
          JSON.stringify({ ehr_id: torn, contribution: badSecond }),
          `{"ehr_id":"${torn}","composition":[]}`,
          Buffer.concat([Buffer.from(`{"ehr_id":"${torn}","x":"`), Buffer.from([0xff])]).toString('latin1'),
          line(whole, 2),
        ].join('\n'),
        'latin1',
      );
      const { code, stdout, stderr } = await run('import', file('broken.ndjson'));
      expect([code, stdout]).toEqual([1, expect.stringMatching(/^2 imported, 0 there already, 4 failed/)]);
      expect(stderr).toContain('first in line 2');
      const errors = readFileSync(`${file('broken.ndjson')}.import-errors.ndjson`, 'utf8')
        .trim()
        .split('\n');
      expect(errors.map((text) => JSON.parse(text) as object)).toEqual([
        expect.objectContaining({ line: 2, message: expect.stringMatching(/JSON/) }),
        expect.objectContaining({ line: 3, ehr_id: torn, message: expect.stringContaining('missing.v1') }),
        expect.objectContaining({ line: 4, message: expect.stringMatching(/./) }),
        expect.objectContaining({ line: 5, message: expect.stringContaining('UTF-8') }),
      ]);
      // No EHR for lines of which nothing can be there, and no part of a CONTRIBUTION.
      expect(await count()).toBe(before + 1);
      expect((await run('ehr', 'get', torn)).code).toBe(1);
    });

    it('makes EHRs with their EHR_STATUS; one without archetype_details is none in 1.1.0', async () => {
      const half = withoutAttributes(STATUS, ['archetype_details']);
      const records = [STATUS, half].map((ehr_status) => ({ ehr_id: randomUUID(), ehr_status }));
      writeFileSync(file('status.ndjson'), ndjson(records));
      const { code, stdout } = await run('import', file('status.ndjson'));
      expect([code, stdout]).toEqual(
        edition === '1.1.0'
          ? [1, expect.stringMatching(/^1 imported, 0 there already, 1 failed/)]
          : [0, expect.stringMatching(/^2 imported, 0 there already, 0 failed/)],
      );
      expect((await run('ehr', 'get', records[0]!.ehr_id)).code).toBe(0);
    });

    it('names an EHR whose every record the server refused', async () => {
      const ehrId = randomUUID();
      const records = [{ ehr_id: ehrId, composition: withoutAttributes(compositions[2]!, ['language']) }];
      writeFileSync(file('empty.ndjson'), ndjson(records));
      const { stderr } = await run('import', file('empty.ndjson'));
      expect(stderr).toContain(`EHR ${ehrId} was created, and all records refused`);
    });

    it('stops at --max-errors, and goes on when it is started again', async () => {
      const ehrId = randomUUID();
      const records = [
        ...Array.from({ length: 2_000 }, () => ({ ehr_id: ehrId, composition: unknown })),
        { ehr_id: ehrId, composition: compositions[3] },
      ];
      writeFileSync(file('many.ndjson'), ndjson(records));
      const first = await run('import', file('many.ndjson'), '--max-errors', '10');
      expect([first.code, first.stdout]).toEqual([
        1,
        expect.stringMatching(/^0 imported, 0 there already, 2000/),
      ]);
      expect(first.stderr).toContain('stopped after record 2000');
      const second = await run('import', file('many.ndjson'));
      expect(second.stdout).toMatch(/^1 imported, 0 there already, 2000 failed/);
    });
  });
}
