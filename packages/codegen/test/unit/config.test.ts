import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { fixtureText } from '../../../../test/support/fixture.js';
import { runHere } from '../../../../test/support/process/command-line.js';
import { importCompiled } from '../../src/command/config.js';

const root = fileURLToPath(new URL('../../../../', import.meta.url));
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'codegen-config-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  mkdirSync(join(folder, 'models'));
  writeFileSync(join(folder, 'models/evaluation.opt'), fixtureText('opt/minimal_evaluation.en.v1.opt'));
  writeFileSync(join(folder, 'models/readme.txt'), 'no template');
  writeFileSync(join(folder, 'all.aql'), 'SELECT COUNT(*) AS n FROM COMPOSITION c');
});
afterEach(() => rmSync(folder, { recursive: true }));

const configured = (text: string, name = 'everchart.config.ts'): string => {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
};

it('writes what the configuration names, its paths from its own folder', async () => {
  const file = configured(`import { defineConfig } from '${join(root, 'packages/codegen/src/main.ts')}';
export default defineConfig({
  templates: { files: ['models'], output: 'src/gen', importExtension: 'ts' },
  queries: { files: ['all.aql'], output: 'src/queries', templates: ['models'] },
});`);
  expect(await runHere('codegen', '--config', file)).toMatchObject({ code: 0, stderr: '' });
  expect(readFileSync(join(folder, 'src/gen/minimal-evaluation-en-v1.ts'), 'utf8')).toContain(`'./flat.ts'`);
  expect(readFileSync(join(folder, 'src/queries/all.ts'), 'utf8')).toContain('export function all(');
});

it('leaves alone what is as it should be, so that what watches it is not woken', async () => {
  const file = configured("export default { templates: { files: ['models'], output: 'gen' } };");
  expect(await runHere('codegen', '--config', file)).toMatchObject({ code: 0 });
  const made = join(folder, 'gen/minimal-evaluation-en-v1.ts');
  const before = statSync(made, { bigint: true }).mtimeNs;
  writeFileSync(join(folder, 'gen/flat.ts'), 'changed');
  expect(await runHere('codegen', 'run', '-c', file)).toMatchObject({ code: 0 });
  expect(statSync(made, { bigint: true }).mtimeNs).toBe(before);
  expect(readFileSync(join(folder, 'gen/flat.ts'), 'utf8')).not.toBe('changed');
});

it('tells a build of what is not as it would be written, and writes nothing', async () => {
  const file = configured(`export default {
  templates: { files: ['models'], output: 'gen' },
  queries: { files: ['all.aql'], output: 'queries', templates: ['models'] },
};`);
  expect(await runHere('codegen', '--config', file)).toMatchObject({ code: 0 });
  expect(await runHere('codegen', '--config', file, '--check')).toMatchObject({ code: 0, stderr: '' });
  // A node that is called otherwise is another member.
  const renamed = fixtureText('opt/minimal_evaluation.en.v1.opt').replaceAll('>quantity<', '>mass<');
  writeFileSync(join(folder, 'models/evaluation.opt'), renamed);
  const made = join(folder, 'gen/minimal-evaluation-en-v1.ts');
  const before = readFileSync(made, 'utf8');
  const { code, stderr } = await runHere('codegen', '--config', file, '--check');
  expect(code).toBe(1);
  expect(stderr).toContain('minimal-evaluation-en-v1.ts: it would be another one now');
  expect(stderr).not.toContain('flat.ts');
  expect(readFileSync(made, 'utf8')).toBe(before);
});

it.each([
  ['export const config = {};', 'has no default export'],
  ['export default {};', 'names neither templates nor queries'],
  [
    "export default { template: {}, url: 'http://x' };",
    'template is unknown: there are url, templates, queries',
  ],
  ["export default { templates: { out: 'gen' } };", 'templates.out is unknown'],
  ["export default { templates: { out: 'gen' } };", 'templates.output is missing or of the wrong form'],
  [
    "export default { queries: { files: 'a.aql', output: 'gen' } };",
    'queries.files is missing or of the wrong form',
  ],
  [
    "export default { templates: { output: 'g', importExtension: 'mjs' } };",
    'templates.importExtension is missing',
  ],
])('says what is wrong in a configuration: %s', async (text, message) => {
  const { code, stderr } = await runHere('codegen', '--config', configured(text, 'everchart.config.mjs'));
  expect(code).toBe(1);
  expect(stderr).toContain(message);
});

it('says where there is no configuration', async () => {
  const { code, stderr } = await runHere('codegen', '--config', join(folder, 'none.ts'));
  expect([code, stderr]).toEqual([1, expect.stringContaining('there is no')]);
  expect((await runHere('codegen')).stderr).toContain('no everchart.config.ts here');
});

const TYPED = "const output: string = 'gen';\nexport default { templates: { output } };";

it('has it compiled by the TypeScript of the project where Node.js cannot read it', async () => {
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(root, 'node_modules/typescript'), join(folder, 'node_modules/typescript'));
  const file = configured(TYPED);
  expect(await importCompiled(file)).toMatchObject({ default: { templates: { output: 'gen' } } });
  expect(existsSync(`${file}.${process.pid}.mjs`)).toBe(false);
});

it('says what it needs where the project has none', async () => {
  await expect(importCompiled(configured(TYPED))).rejects.toThrow(
    /needs Node.js 22.18, or typescript in the project/,
  );
});
