import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { runCli } from '../../../../cli/cli.js';
import type { JsonObject } from '../../../../openehr/base/json.js';
import { writeFlat } from '../../../../openehr/format/flat/write.js';
import { exampleComposition } from '../../../../openehr/template/example/example.js';
import { typeName } from '../../../../openehr/template/codegen/template-module.js';
import { templateNames } from '../../../support/fixture.js';
import { publicTemplate } from '../../../support/templates.js';

type Flat = JsonObject;

interface Module {
  readonly TEMPLATE_ID: string;
  readonly [name: string]: unknown;
}

const root = fileURLToPath(new URL('../../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'codegen-'));
const examples = new Map<string, { flat: Flat; data: unknown }>();
let modules: Map<string, Module>;

beforeAll(async () => {
  const files = templateNames().map((name) => join(root, `test/fixtures/openehr/opt/${name}.opt`));
  expect(await runCli(['codegen', 'templates', ...files, '-o', folder])).toBe(0);
  modules = new Map();
  for (const file of readdirSync(folder).filter((name) => name !== 'flat.ts')) {
    const module = (await import(join(folder, file))) as Module;
    modules.set(module.TEMPLATE_ID, module);
  }
  for (const name of templateNames()) {
    const template = publicTemplate(name);
    const module = modules.get(template.templateId)!;
    const flat = writeFlat(
      exampleComposition(template, { detailLevel: 'complete', type: 'input' }),
      template,
    );
    const read = module[`read${typeName(template.templateId)}`] as (flat: Flat) => unknown;
    examples.set(template.templateId, { flat, data: read(flat) });
  }
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe('the module of a template', () => {
  it('reads FLAT to data, and makes the same FLAT of them: every public template', () => {
    expect(modules.size).toBe(examples.size);
    for (const [id, { flat, data }] of examples) {
      const type = typeName(id);
      const make = modules.get(id)![type.charAt(0).toLowerCase() + type.slice(1)] as (data: unknown) => Flat;
      const expected = Object.fromEntries(Object.entries(flat).filter(([key]) => !key.startsWith('ctx/')));
      expect([id, withoutFirst(make(data))]).toEqual([id, withoutFirst(expected)]);
    }
  });

  it('has types that take these data, and compile strictly: every public template', () => {
    const uses = [...examples].map(([id, { data }], index) => {
      const type = typeName(id);
      return `import type { ${type} as T${index} } from './${fileOf(id)}.js';
export const d${index}: T${index} = ${JSON.stringify(data)};\n`;
    });
    uses.push(`import type { EhrbaseBloodPressureSimpleDeV0 as Bp } from './ehrbase-blood-pressure-simple-de-v0.js';
// @ts-expect-error: the template has no such code
export const wrong: Bp['category'] = { code: '431' };\n`);
    writeFileSync(join(folder, 'use.ts'), uses.join(''));
    const program = ts.createProgram([join(folder, 'use.ts')], {
      strict: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      lib: ['lib.es2022.d.ts'],
      types: [],
    });
    const found = ts.getPreEmitDiagnostics(program).map(({ messageText, file, start }) => {
      const at = file?.getLineAndCharacterOfPosition(start ?? 0);
      return `${file?.fileName.split('/').at(-1) ?? ''}:${(at?.line ?? 0) + 1} ${ts.flattenDiagnosticMessageText(messageText, ' ').slice(0, 600)}`;
    });
    expect(found).toEqual([]);
  }, 120_000);
});

function fileOf(id: string): string {
  return id.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '');
}

/** `:0` and no index are the same place. */
function withoutFirst(flat: Flat): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(flat).map(([key, value]) => [key.replaceAll(/:0(?=[/|]|$)/g, ''), value]),
  );
}
