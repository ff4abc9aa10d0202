import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import prettier from 'prettier';
import ts from 'typescript';
import { Cdr, type QueryResult } from '../../../client/src/main.js';
import { testServer } from '../../../../test/support/app.js';
import { runHere } from '../../../../test/support/process/command-line.js';
import { useDatabase } from '../../../../test/support/database.js';
import { fixtureText } from '../../../../test/support/fixture.js';
import { testSettings } from '../../../../test/support/settings.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const TEMPLATE = 'ehrbase_blood_pressure_simple.de.v0';
const OPT = join(root, `test/fixtures/openehr/opt/${TEMPLATE}.opt`);
const BP = 'openEHR-EHR-OBSERVATION.sample_blood_pressure.v1';
const SYSTOLIC = 'o/data[at0001]/events[at0002]/data[at0003]/items[at0004]/value';
const HIGH = `-- Pressures of a person from a limit on.
SELECT e/ehr_id/value AS ehr_id, ${SYSTOLIC}/magnitude AS systolic, ${SYSTOLIC}/units, o AS observation
FROM EHR e CONTAINS OBSERVATION o[${BP}]
WHERE ${SYSTOLIC}/magnitude >= $least AND e/ehr_id/value MATCHES {$ehrs}
`;

let folder: string;
let queries: string;
let output: string;

useDatabase();
beforeAll(() => {
  // Below node_modules, so that @everchart/client is found from there.
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, 'codegen-queries-'));
  queries = join(folder, 'queries');
  mkdirSync(queries);
  writeFileSync(join(queries, 'high-pressures.aql'), HIGH);
  writeFileSync(join(queries, 'all.aql'), 'SELECT COUNT(*) AS n, c/name/value FROM COMPOSITION c');
});
beforeEach(() => {
  output = mkdtempSync(join(folder, 'gen-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const generate = (names: readonly string[], ...from: readonly string[]) =>
  runHere('codegen', 'queries', ...names.map((name) => join(queries, name)), '-o', output, ...from);
const generated = (name: string): string => readFileSync(join(output, name), 'utf8');

describe('everchart codegen queries', () => {
  it('tells every mistake with its place, as the server does, and writes nothing', async () => {
    writeFileSync(
      join(queries, 'wrong.aql'),
      `SELECT o/data[at0099]/origin FROM OBSERVATION o[${BP}] CONTAINS CLUSTER[openEHR-EHR-CLUSTER.nothing.v1]`,
    );
    writeFileSync(join(queries, 'unreadable.aql'), 'SELECT\n  FROM EHR e');
    const { code, stderr } = await generate(['all.aql', 'wrong.aql', 'unreadable.aql'], '--templates', OPT);
    expect(code).toBe(1);
    expect(stderr.replaceAll(`${queries}/`, '').trim().split('\n')).toEqual([
      expect.stringMatching(
        /^wrong\.aql:1:15: no stored template has the node at0099 in .*\(unknown_node\)$/,
      ),
      expect.stringMatching(
        /^wrong\.aql:1:\d+: no stored template has the archetype .*\(unknown_archetype\)$/,
      ),
      expect.stringMatching(/^unreadable\.aql:2:3: AQL syntax error at line 2:3: .*\(invalid\)$/),
    ]);
    expect(() => generated('all.ts')).toThrow();
  });

  it('makes the same formatted text each time, which compiles strictly', async () => {
    expect(await generate(['high-pressures.aql', 'all.aql'], '--templates', OPT)).toMatchObject({ code: 0 });
    const first = generated('high-pressures.ts');
    expect(await generate(['high-pressures.aql'], '--templates', join(OPT, '..'))).toMatchObject({ code: 0 });
    expect(generated('high-pressures.ts')).toBe(first);
    for (const name of ['high-pressures.ts', 'all.ts']) {
      const options = { parser: 'typescript', singleQuote: true, printWidth: 100 } as const;
      expect(generated(name)).toBe(await prettier.format(generated(name), options));
    }
    writeFileSync(
      join(output, 'use.ts'),
      `import type { Cdr, OBSERVATION } from '@everchart/client';
import { all } from './all.js';
import { highPressures, highPressuresStream } from './high-pressures.js';
export async function use(cdr: Cdr): Promise<void> {
  const { rows } = await highPressures(cdr, { least: 140, ehrs: ['a', 'b'] }, { fetch: 5 });
  for (const row of rows) {
    const [id, systolic]: [string, number] = [row.ehr_id, row.systolic];
    const unit: string | null = row['#2'];
    const observation: OBSERVATION | null = row.observation;
    // @ts-expect-error It may be null.
    const never: string = row['#2'];
    console.log(id, systolic, unit, observation, never);
  }
  for await (const { systolic } of highPressuresStream(cdr, { least: 140, ehrs: 'a' })) console.log(systolic);
  // @ts-expect-error A number is asked for.
  await highPressures(cdr, { least: '140', ehrs: 'a' });
  // @ts-expect-error A parameter is missing.
  await highPressures(cdr, { least: 140 });
  const n: number | undefined = (await all(cdr)).rows[0]?.n;
  console.log(n);
}
`,
    );
    expect(compile(join(output, 'use.ts'))).toEqual([]);
  });

  it('checks against a server, and what it makes gives typed rows of it', async () => {
    const server: Server = await testServer(testSettings());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const cdr = new Cdr({ url });
    await cdr.templates.upload(fixtureText(`opt/${TEMPLATE}.opt`));
    const ehr = await cdr.ehr.create();
    await ehr.compositions.commit(
      await cdr.templates.example(TEMPLATE, { format: 'FLAT', detail: 'complete' }),
      {
        template: TEMPLATE,
      },
    );
    expect(await generate(['high-pressures.aql'], '--url', url)).toMatchObject({ code: 0 });
    const text = ts.transpileModule(generated('high-pressures.ts'), {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 },
    }).outputText;
    const file = join(output, 'high-pressures.mjs');
    writeFileSync(file, text);
    const { highPressures, highPressuresStream } = (await import(file)) as {
      highPressures: (cdr: Cdr, parameters: object) => Promise<QueryResult>;
      highPressuresStream: (cdr: Cdr, parameters: object) => AsyncIterable<unknown>;
    };
    const { rows } = await highPressures(cdr, { least: 0, ehrs: [ehr.id] });
    expect(rows[0]).toEqual({
      ehr_id: ehr.id,
      systolic: expect.any(Number),
      '#2': 'mm[Hg]',
      observation: expect.objectContaining({ _type: 'OBSERVATION' }),
    });
    const streamed: unknown[] = [];
    for await (const row of highPressuresStream(cdr, { least: 0, ehrs: ehr.id })) streamed.push(row);
    expect(streamed).toEqual(rows);
    expect((await highPressures(cdr, { least: 100_000, ehrs: ehr.id })).rows).toEqual([]);
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  });
});

function compile(file: string): string[] {
  const program = ts.createProgram([file], {
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    exactOptionalPropertyTypes: true,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: [],
  });
  return ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ messageText, file: where }) =>
        `${where?.fileName ?? ''}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    );
}
