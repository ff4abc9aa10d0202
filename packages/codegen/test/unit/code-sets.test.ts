import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import ts from 'typescript';
import { runCli } from '../../../../cli/cli.js';
import { compileTemplate } from '../../../../openehr/template/compile.js';
import { fixtureText } from '../../../../test/support/fixture.js';
import { publicTemplate } from '../../../../test/support/openehr/templates.js';
import { compilerFindings } from '../../../../test/support/typescript.js';
import { templateModule } from '../../src/main.js';

const BP = 'openEHR-EHR-OBSERVATION.sample_blood_pressure.v1';
const FILE = 'ehrbase-blood-pressure-simple-de-v0';

/** The public template with labels of German, and changed labels of its own language. */
function templateText(english: Readonly<Record<string, string>>, german: Readonly<Record<string, string>>) {
  let opt = fixtureText('opt/ehrbase_blood_pressure_simple.de.v0.opt');
  for (const [from, to] of Object.entries(english))
    opt = opt.replaceAll(`<items id="text">${from}</items>`, `<items id="text">${to}</items>`);
  const items = Object.entries(german).map(
    ([code, text]) => `<items code="${code}"><items id="text">${text}</items></items>`,
  );
  const ontology = `<component_ontologies archetype_id="${BP}"><term_definitions language="de">${items.join('')}</term_definitions></component_ontologies>`;
  return opt.replace('</template>', `${ontology}</template>`);
}

interface CodeSet {
  readonly [name: string]: { readonly code: string };
}
interface WithOptions {
  readonly options: (language?: string) => { readonly code: string; readonly label: string }[];
}
interface Module {
  readonly Position: CodeSet & WithOptions;
  readonly CuffSize: CodeSet & WithOptions;
  readonly [name: string]: unknown;
}

const folder = mkdtempSync(join(tmpdir(), 'codegen-codes-'));
let module: Module;

beforeAll(async () => {
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const opt = join(folder, 'bp.opt');
  const english = { Reclining: '+++', Trendelenburg: 'Options', 'Large Adult': 'Adult' };
  writeFileSync(opt, templateText(english, { at1000: 'Stehend', at1001: 'Sitzend' }));
  expect(await runCli(['codegen', 'templates', opt, '-o', folder])).toBe(0);
  module = (await import(join(folder, `${FILE}.ts`))) as Module;
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('the codes of a node', () => {
  it('have names by their labels, and are values of the node', () => {
    expect(module.Position).toMatchObject({ standing: { code: 'at1000' }, sitting: { code: 'at1001' } });
    const canonical = module['canonicalEhrbaseBloodPressureSimpleDeV0'] as (...of: object[]) => unknown;
    const made = canonical(
      { blood_pressure_training_sample: [{ position: module.Position['sitting'] }] },
      { territory: 'DE', composer_name: 'Ada Moe' },
    );
    expect(JSON.stringify(made)).toContain('"value":"Sitting"');
  });

  it('have their code where the label has no letter, is that of another or of a method', () => {
    expect(Object.keys(module.Position)).toEqual(
      expect.arrayContaining(['code_at1002', 'options_at1013', 'leftLateral']),
    );
    expect(Object.keys(module.CuffSize)).toEqual(expect.arrayContaining(['adult_at0015', 'adult_at0016']));
  });

  it('are a list to choose from in each language of the template', () => {
    const [standing, sitting, third] = module.Position.options('de');
    expect([standing, sitting]).toEqual([
      { code: 'at1000', label: 'Stehend' },
      { code: 'at1001', label: 'Sitzend' },
    ]);
    expect(third).toEqual({ code: 'at1002', label: '+++' });
    expect(module.Position.options('de-AT')).toEqual(module.Position.options('de'));
    expect(module.Position.options()[1]).toEqual({ code: 'at1001', label: 'Sitting' });
    expect(module.Position.options('fr')).toEqual(module.Position.options('en'));
    expect(module.Position.options()).toHaveLength(6);
  });

  it('cannot be changed by changing a draft that holds one', () => {
    const draft = { position: module.Position['sitting'] as { code: string } };
    expect(() => (draft.position.code = 'at1000')).toThrow(TypeError);
  });

  it('show their labels in every language where an editor points at them', () => {
    const hovers = hoverOf(
      `import { Position } from './${FILE}.js';\nexport const at = Position.sitting;\n`,
      ['sitting'],
    );
    expect(hovers).toEqual(['en: Sitting; de: Sitzend']);
  });

  it('are checked by the compiler, and so is a draft of what was read', () => {
    writeFileSync(
      join(folder, 'use.ts'),
      `import { Position, canonicalEhrbaseBloodPressureSimpleDeV0, readEhrbaseBloodPressureSimpleDeV0,
  type EhrbaseBloodPressureSimpleDeV0 as Bp } from './${FILE}.js';
const draft = readEhrbaseBloodPressureSimpleDeV0({ _type: 'COMPOSITION' });
const [first] = draft.blood_pressure_training_sample;
first.position = Position.sitting;
first.systolic = { magnitude: 120 };
if (first.systolic.unit !== undefined) first.systolic.magnitude += 1;
draft.blood_pressure_training_sample.push({ position: Position.standing });
export const made = canonicalEhrbaseBloodPressureSimpleDeV0(draft, { territory: 'DE' });
export const data: Bp = draft;
export const code: 'at1001' = Position.sitting.code;
export const codes: 'at1000' | 'at1001' | 'at1002' | 'at1003' | 'at1013' | 'at1014' | undefined =
  Position.options('de')[0]?.code;
// @ts-expect-error: no such code
export const wrong = Position.hanging;
// @ts-expect-error: what is not a draft cannot be changed
data.context = {};
`,
    );
    expect(compilerFindings([join(folder, 'use.ts')])).toEqual([]);
  });
});

it('what was read can be changed and committed again', () => {
  const {
    readEhrbaseBloodPressureSimpleDeV0: read,
    canonicalEhrbaseBloodPressureSimpleDeV0: canonical,
    Position,
  } = module as unknown as {
    readEhrbaseBloodPressureSimpleDeV0: (of: object) => {
      blood_pressure_training_sample: { position: object }[];
    };
    canonicalEhrbaseBloodPressureSimpleDeV0: (...of: object[]) => object;
    Position: CodeSet;
  };
  const ctx = { territory: 'DE', composer_name: 'Ada Moe', time: '2026-01-02T03:04:05Z' };
  const draft = read(canonical({ blood_pressure_training_sample: [{ position: Position['sitting'] }] }, ctx));
  draft.blood_pressure_training_sample[0]!.position = Position['lying']!;
  draft.blood_pressure_training_sample.push({ position: Position['standing']! });
  expect(JSON.stringify(canonical(draft, ctx)).match(/"value":"(?:Sitting|Lying|Standing)"/g)).toEqual([
    '"value":"Lying"',
    '"value":"Standing"',
  ]);
});

it('structures of one id are named by their parents, whatever stands before them', () => {
  const { text } = templateModule(publicTemplate('conformance-ehrbase.de.v0'));
  const named = [...text.matchAll(/export interface ConformanceEhrbaseDeV0(\w*AnyEvent\w*) /g)];
  expect(named.map(([, name]) => name)).toEqual([
    'ConformanceIntervalAnyEvent',
    'ConformanceObservationAnyEvent',
  ]);
});

it('codes of an id that a module has itself, or that no identifier can begin with, have a name all the same', () => {
  const opt = templateText({ Position: 'Plain', 'Cuff size': '2 sizes' }, {});
  const { text } = templateModule(compileTemplate(opt));
  const names = [...text.matchAll(/^export const (\S+) = \/\* @__PURE__/gm)].map(([, name]) => name);
  expect(names).toContain('BloodPressureTrainingSamplePlain');
  expect(names.every((name) => /^\p{L}[\p{L}\p{Nd}]*$/u.test(name!))).toBe(true);
  expect(new Set(names).size).toBe(names.length);
});

/** What an editor shows of words in a file beside the modules. */
function hoverOf(text: string, words: readonly string[]): (string | undefined)[] {
  const file = join(folder, 'hover.ts');
  writeFileSync(file, text);
  const service = ts.createLanguageService({
    getCompilationSettings: () => ({ module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2022 }),
    getScriptFileNames: () => [file],
    getScriptVersion: () => '0',
    getScriptSnapshot: (name) =>
      ts.sys.fileExists(name) ? ts.ScriptSnapshot.fromString(readFileSync(name, 'utf8')) : undefined,
    getCurrentDirectory: () => folder,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (name) => ts.sys.fileExists(name),
    readFile: (name) => ts.sys.readFile(name),
  });
  return words.map((word) => {
    const info = service.getQuickInfoAtPosition(file, text.lastIndexOf(word));
    return ts.displayPartsToString(info?.documentation);
  });
}
