import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCli } from '../../../../cli/cli.js';
import type { JsonObject } from '../../../../openehr/base/json.js';
import { readRm } from '../../../../openehr/rm/read.js';
import { validateRm } from '../../../../openehr/rm/invariants/validate.js';
import { validateAgainstTemplate } from '../../../../openehr/template/validate.js';
import { flatToStructured } from '../../../../openehr/format/composition/structured.js';
import { writeFlat } from '../../../../openehr/format/flat/write.js';
import { exampleComposition } from '../../../../openehr/template/example/example.js';
import { RUNTIME_FILES, templateModule } from '../../src/main.js';
import { typeName } from '../../src/names.js';
import { templateNames } from '../../../../test/support/fixture.js';
import { compilerFindings } from '../../../../test/support/typescript.js';
import { publicTemplate } from '../../../../test/support/openehr/templates.js';

type Flat = JsonObject;

interface Module {
  readonly TEMPLATE_ID: string;
  readonly [name: string]: unknown;
}

const CHECKS = { checkExtraNodes: true, checkContainerCardinality: false };
const root = fileURLToPath(new URL('../../../../', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'codegen-'));
const examples = new Map<string, { flat: Flat; data: unknown; composition: JsonObject }>();
let modules: Map<string, Module>;

beforeAll(async () => {
  // What `verbatimModuleSyntax` asks of a project.
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const files = templateNames().map((name) => join(root, `test/fixtures/openehr/opt/${name}.opt`));
  expect(await runCli(['codegen', 'templates', ...files, '-o', folder])).toBe(0);
  modules = new Map();
  for (const file of readdirSync(folder).filter(
    (name) => name.endsWith('.ts') && !RUNTIME_FILES.some((file) => file === name),
  )) {
    const module = (await import(join(folder, file))) as Module;
    modules.set(module.TEMPLATE_ID, module);
  }
  for (const name of templateNames()) {
    const template = publicTemplate(name);
    const module = modules.get(template.templateId)!;
    const composition = exampleComposition(template, { detailLevel: 'complete', type: 'input' });
    const flat = writeFlat(composition, template);
    const read = module[`read${typeName(template.templateId)}`] as (flat: Flat) => unknown;
    examples.set(template.templateId, { flat, data: read(flat), composition });
  }
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What `npm create vite`, `ng new` and others switch on beside `strict`. */
const STRICT_PROJECTS = {
  noUnusedLocals: true,
  noUnusedParameters: true,
  noPropertyAccessFromIndexSignature: true,
  noImplicitOverride: true,
  noImplicitReturns: true,
  noFallthroughCasesInSwitch: true,
  exactOptionalPropertyTypes: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  erasableSyntaxOnly: true,
};

/** What the types refuse is said by `@ts-expect-error`: without the error it would not compile. */
const BUILDER_USE = `import { ehrbaseBloodPressureSimpleDeV0, canonicalEhrbaseBloodPressureSimpleDeV0,
  structuredEhrbaseBloodPressureSimpleDeV0, type EhrbaseBloodPressureSimpleDeV0 as Bp } from './ehrbase-blood-pressure-simple-de-v0.js';
// @ts-expect-error: the template has no such code
export const wrong: Bp['category'] = { code: '431' };
const begun = ehrbaseBloodPressureSimpleDeV0({ territory: 'GB', composer_name: 'Ada Moe', time: '2026-01-02T03:04:05Z' })
  .systolic({ magnitude: 120 });
// @ts-expect-error: a required node is missing
begun.build();
// @ts-expect-error: another unit than that of the template
begun.diastolic({ magnitude: 80, unit: 'kPa' });
// @ts-expect-error: no such node
begun.diastole({ magnitude: 80 });
// @ts-expect-error: keys of FLAT have no canonical form
begun.diastolic({ magnitude: 80, '|normal_status': 'N' });
export const made = begun.position({ code: 'at1000' }).diastolic({ magnitude: 80, unit: 'mm[Hg]' }).build();
// @ts-expect-error: an observation without its position
canonicalEhrbaseBloodPressureSimpleDeV0({ blood_pressure_training_sample: [{ systolic: { magnitude: 1 } }] });
// @ts-expect-error: at least one observation
canonicalEhrbaseBloodPressureSimpleDeV0({ blood_pressure_training_sample: [] });
const structured = structuredEhrbaseBloodPressureSimpleDeV0({ blood_pressure_training_sample: [{ position: { code: 'at1000' } }] });
// @ts-expect-error: no such code
export const code: 'at9999' = ([structured.encounter_training_sample.blood_pressure_training_sample].flat()[0] as any as { position: [{ '|code': 'at1000' }] }).position[0]['|code'];
`;

describe('the module of a template', () => {
  it('reads FLAT to data, and makes the same FLAT of them: every public template', () => {
    expect(modules.size).toBe(examples.size);
    for (const [id, { flat, data }] of examples) {
      const type = typeName(id);
      const make = modules.get(id)![`flat${type}`] as (data: unknown) => Flat;
      const expected = Object.fromEntries(Object.entries(flat).filter(([key]) => !key.startsWith('ctx/')));
      expect([id, withoutFirst(make(data))]).toEqual([id, withoutFirst(expected)]);
    }
  });

  it.each(templateNames())('reads canonical JSON, and makes valid canonical JSON of it: %s', (name) => {
    const template = publicTemplate(name);
    const id = template.templateId;
    const { composition } = examples.get(id)!;
    const { [`read${typeName(id)}`]: read, [`canonical${typeName(id)}`]: canonical } = modules.get(
      id,
    )! as unknown as Record<string, (value: unknown) => JsonObject>;
    const data = read!(composition);
    const made = canonical!(data);
    const { object, violations } = readRm(made, 'COMPOSITION');
    expect(violations.slice(0, 3)).toEqual([]);
    expect([
      ...validateRm(object as JsonObject),
      ...validateAgainstTemplate(object as JsonObject, template, CHECKS),
    ]).toEqual([]);
    expect(read!(made)).toEqual(data);
  });

  it('builds canonical JSON node by node, and says what is missing, unknown or too many', () => {
    const module = modules.get('ehrbase_blood_pressure_simple.de.v0')!;
    interface Build {
      readonly [node: string]: (value?: unknown) => Build;
    }
    const begin = module.ehrbaseBloodPressureSimpleDeV0 as (ctx: object) => Build;
    const ctx = { territory: 'DE', composer_name: 'Ada Moe', time: '2026-01-02T03:04:05Z' };
    const begun = begin(ctx).systolic!({ magnitude: 120 });
    const made = begun.position!({ code: 'at1000' }).cuff_size!({ code: 'at0015' })
      .build!() as unknown as JsonObject;
    const template = publicTemplate('ehrbase_blood_pressure_simple.de.v0');
    expect(
      validateAgainstTemplate(readRm(made, 'COMPOSITION').object as JsonObject, template, CHECKS),
    ).toEqual([]);
    expect(made).toMatchObject({
      composer: { name: 'Ada Moe' },
      content: [
        {
          data: {
            origin: { value: ctx.time },
            events: [
              {
                data: {
                  items: [{ name: { value: 'Systolic' }, value: { magnitude: 120, units: 'mm[Hg]' } }],
                },
              },
            ],
          },
          protocol: { items: [{ value: { value: 'Adult', defining_code: { code_string: 'at0015' } } }] },
        },
      ],
    });
    expect(() => begun.build!()).toThrow('blood_pressure_training_sample:0/position is missing');
    expect(() => begin({}).position!({ code: 'at1000' }).build!()).toThrow(
      /territory is missing.*composer is missing/,
    );
    const canonical = module.canonicalEhrbaseBloodPressureSimpleDeV0 as (
      data: object,
      ctx: object,
    ) => unknown;
    const one = { position: { code: 'at1000' } };
    expect(() => canonical({ blood_pressure_training_sample: Array(9).fill(one) }, ctx)).toThrow(
      '9 times, at most 8',
    );
    expect(() => canonical({ blood_pressure_training_sample: [{ ...one, systole: 1 }] }, ctx)).toThrow(
      'blood_pressure_training_sample:0/systole has no canonical form',
    );
  });

  it('gives STRUCTURED that is the FLAT as a tree: every public template', () => {
    for (const [id, { data, flat }] of examples) {
      // Nothing but SECTIONs without content, which the server tells apart in another way.
      if (id === 'cardinality_of_section') continue;
      const { [`structured${typeName(id)}`]: make } = modules.get(id)! as unknown as Record<
        string,
        (data: unknown) => JsonObject
      >;
      const expected = flatToStructured(flat);
      delete expected.ctx;
      expect([id, make!(data)]).toEqual([id, expected]);
    }
  });

  it.each(['ts', 'none'])(
    'names the modules beside it with the suffix that is asked for: %s',
    async (form) => {
      const opt = join(root, 'test/fixtures/openehr/opt/nested.en.v1.opt');
      const made = join(folder, form);
      expect(await runCli(['codegen', 'templates', opt, '-o', made, '--import-extension', form])).toBe(0);
      const texts = readdirSync(made).map((file) => readFileSync(join(made, file), 'utf8'));
      const named = texts.flatMap((text) =>
        [...text.matchAll(/ from '(\.\/[^']*)';/g)].map(([, name]) => name),
      );
      expect(named.length).toBeGreaterThan(5);
      expect(
        named.filter((name) => name!.endsWith('.ts') !== (form === 'ts') || name!.endsWith('.js')),
      ).toEqual([]);
    },
  );

  it('is the same text each time', () => {
    const template = publicTemplate('conformance-ehrbase.de.v0');
    expect(templateModule(template).text).toBe(templateModule(template).text);
    expect(readFileSync(join(folder, templateModule(template).fileName), 'utf8')).toBe(
      templateModule(template).text,
    );
  });

  it('has types that take these data, and compile strictly: every public template', () => {
    const uses = [...examples].map(([id, { data, flat }], index) => {
      const type = typeName(id);
      return `import type { ${type} as T${index}, ${type}Flat as F${index} } from './${fileOf(id)}.js';
export const d${index}: T${index} = ${JSON.stringify(data)};
export const f${index}: F${index} = ${JSON.stringify(flat)};\n`;
    });
    uses.push(BUILDER_USE);
    writeFileSync(join(folder, 'use.ts'), uses.join(''));
    expect(compilerFindings([join(folder, 'use.ts')], STRICT_PROJECTS)).toEqual([]);
  });
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
