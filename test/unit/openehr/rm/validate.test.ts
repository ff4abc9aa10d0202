import { violationText } from '../../../../openehr/base/violation.js';
import { describe, expect, it } from '@jest/globals';
import type { JsonObject, JsonValue } from '../../../../openehr/base/json.js';
import { readRm } from '../../../../openehr/rm/read.js';
import type { PartialRm } from '../../../../openehr/rm/model/rm.js';
import { fixtureJson, fixtureNames } from '../../../support/fixture.js';
import {
  missingCompositionAttributes as missingAttributes,
  validateRm as rmViolations,
  type RmValidation,
} from '../../../../openehr/rm/invariants/validate.js';

const missingCompositionAttributes = (object: PartialRm<'COMPOSITION'>): string[] =>
  missingAttributes(object).map(violationText);

const validateRm = (object: JsonObject, options?: RmValidation): string[] =>
  rmViolations(object, options).map(violationText);

function composition(file: string): PartialRm<'COMPOSITION'> {
  const { object } = readRm(fixtureJson(`composition/${file}`), 'COMPOSITION');
  if (object === null) throw new Error(`${file} cannot be read`);
  return object;
}

/** Replaces the value at a path of attribute names and indexes; undefined removes it. */
function edited<T extends JsonObject>(
  source: T,
  path: readonly (string | number)[],
  value: JsonValue | undefined,
): T {
  const copy = structuredClone(source);
  let parent: Record<string | number, JsonValue> = copy;
  for (const key of path.slice(0, -1)) parent = parent[key] as Record<string | number, JsonValue>;
  const last = path.at(-1) ?? '';
  if (value === undefined) Reflect.deleteProperty(parent, last);
  else parent[last] = value;
  return copy;
}

const minimal = composition('minimal_evaluation.en.v1.json');
const coded = (code: string, value: string, terminology = 'openehr'): JsonObject => ({
  _type: 'DV_CODED_TEXT',
  value,
  defining_code: {
    _type: 'CODE_PHRASE',
    terminology_id: { _type: 'TERMINOLOGY_ID', value: terminology },
    code_string: code,
  },
});

/** What the files as found break: single faults in the data. */
const FINDINGS: Readonly<Record<string, readonly string[]>> = {
  'Test_dv_proportion_open_constraint.v0.json': [
    '/content[0]/data/events[0]/data/items[0]/value: Invariant Type_validity failed on type DV_PROPORTION (expected type 0 to 4, found 898)',
  ],
  'test_all_types.en.v1.datetimes.json': [
    '/content[0]/data/events[0]/data/items[10]/value: Invariant Limits_consistent failed on type INTERVAL (expected lower not above upper)',
  ],
};

describe('validateRm on the fixtures', () => {
  const files = fixtureNames('composition').filter((file) => !/\.invalid|feeder-audit/.test(file));

  it.each(files)('finds in %s what is wrong with it', (file) => {
    const found = validateRm(composition(file));
    expect(found).toEqual(FINDINGS[file] ?? []);
    expect(missingCompositionAttributes(composition(file))).toEqual([]);
  });

  it.each([
    'Corona_Anamnese.json',
    'conformance-ehrbase.de.v0.max.json',
    'nested.en.v1.json',
    'minimal_action_2.json',
  ])('finds nothing in %s', (file) => {
    expect(validateRm(composition(file))).toEqual([]);
  });
});

describe('existence and cardinality', () => {
  const ITEM = ['content', 0, 'data', 'items', 0] as const;

  it('names class, attribute and path of what is missing', () => {
    const quantity = { _type: 'DV_QUANTITY', magnitude: 1 };
    expect(validateRm(edited(minimal, [...ITEM, 'value'], quantity))).toEqual([
      '/content[0]/data/items[0]/value/units: Attribute units of class DV_QUANTITY does not match existence 1..1 (expected String, found nothing)',
    ]);
    expect(validateRm(edited(minimal, ['content', 0, 'data'], undefined))).toEqual([
      '/content[0]/data: Attribute data of class EVALUATION does not match existence 1..1 (expected ITEM_STRUCTURE, found nothing)',
    ]);
  });

  it('asks for at least one item in a CLUSTER', () => {
    const cluster = { _type: 'CLUSTER', name: { _type: 'DV_TEXT', value: 'c' }, archetype_node_id: 'at0009' };
    expect(validateRm(edited(minimal, ITEM, cluster))).toEqual([
      '/content[0]/data/items[0]/items: Attribute does not match cardinality 1..* (expected ITEM, found none)',
    ]);
  });

  it('takes lower limits as 0 in incomplete versions, but still refuses wrong data', () => {
    const lenient = { lenient: true };
    expect(validateRm(edited(minimal, ['content', 0, 'data'], undefined), lenient)).toEqual([]);
    expect(validateRm(edited(minimal, [...ITEM, 'value'], undefined), lenient)).toEqual([]);
    expect(validateRm(edited(minimal, ['category'], coded('999', 'x')), lenient)).not.toEqual([]);
  });

  it('finds everything at once', () => {
    const proportion = { _type: 'DV_PROPORTION', numerator: 1, denominator: 0, type: 1 };
    const found = validateRm(
      edited(edited(minimal, [...ITEM, 'value'], proportion), ['context', 'location'], ''),
    );
    expect(found.map((violation) => violation.split(' (')[0])).toEqual(
      expect.arrayContaining([
        '/context: Invariant Location_validity failed on type EVENT_CONTEXT',
        '/content[0]/data/items[0]/value: Invariant Unitary_validity failed on type DV_PROPORTION',
        '/content[0]/data/items[0]/value: Invariant Valid_denominator failed on type DV_PROPORTION',
      ]),
    );
  });

  it('puts the root path before every path', () => {
    const folderObject = { _type: 'FOLDER', archetype_node_id: 'at0001' };
    expect(validateRm(folderObject, { rootPath: '/versions[0]/data' })).toEqual([
      '/versions[0]/data/name: Attribute name of class FOLDER does not match existence 1..1 (expected DV_TEXT, found nothing)',
    ]);
  });
});

describe('terminology of attributes', () => {
  const category = (value: JsonObject): string[] => validateRm(edited(minimal, ['category'], value));

  it('asks for a code of the group', () => {
    expect(category(coded('999', 'event'))).toContain(
      '/category: supplied code string [999] is not found in codeset:composition category',
    );
  });

  it('asks for the rubric of the code', () => {
    expect(category(coded('433', 'persistent'))).toEqual([
      "/category: supplied value [persistent] doesn't match code string:433 (language:en, terminology:openehr), expected:event",
    ]);
  });

  it('accepts the rubric of the language of the composition, and the English one', () => {
    const spanish = edited(minimal, ['language', 'code_string'], 'es');
    expect(validateRm(edited(spanish, ['category'], coded('433', 'evento')))).toEqual([]);
    expect(validateRm(edited(spanish, ['category'], coded('433', 'event')))).toEqual([]);
    expect(validateRm(edited(spanish, ['category'], coded('433', 'x')))).toEqual([
      "/category: supplied value [x] doesn't match code string:433 (language:es, terminology:openehr), expected:evento",
    ]);
    expect(validateRm(edited(minimal, ['category'], coded('433', 'evento')))).toHaveLength(1);
  });

  it('leaves other terminologies to the invariants', () => {
    const found = category(coded('1', 'x', 'SNOMED-CT'));
    expect(found).toHaveLength(1);
    expect(found[0]).toContain('Invariant Category_validity failed');
  });
});

describe('EHR_STATUS and FOLDER', () => {
  const status = (externalRef: JsonObject): JsonObject => ({
    _type: 'EHR_STATUS',
    archetype_node_id: 'openEHR-EHR-EHR_STATUS.generic.v1',
    name: { _type: 'DV_TEXT', value: 'EHR Status' },
    subject: { _type: 'PARTY_SELF', external_ref: externalRef },
    is_queryable: true,
    is_modifiable: true,
  });
  const reference = (more: JsonObject): JsonObject => ({
    _type: 'PARTY_REF',
    id: { _type: 'HIER_OBJECT_ID', value: '1' },
    namespace: 'hospital',
    type: 'PERSON',
    ...more,
  });

  it('accept a whole reference to the subject', () => {
    expect(validateRm(status(reference({})))).toEqual([]);
  });

  it('refuse a reference without id, value or namespace, or with a wrong namespace', () => {
    expect(
      validateRm(status({ _type: 'PARTY_REF', type: 'PERSON' })).map((text) => text.split(':')[0]),
    ).toEqual(['/subject/external_ref/id', '/subject/external_ref/namespace']);
    expect(validateRm(status(reference({ id: { _type: 'HIER_OBJECT_ID' } })))).toHaveLength(1);
    expect(validateRm(status(reference({ namespace: '1 2' })))[0]).toContain(
      'Invariant Namespace_valid failed on type PARTY_REF',
    );
  });

  it('validate folders below folders', () => {
    const inner = { _type: 'FOLDER', archetype_node_id: '', name: { _type: 'DV_TEXT', value: 'x' } };
    const outer = { ...inner, archetype_node_id: 'at0001', folders: [inner] };
    expect(validateRm(outer)).toEqual([
      '/folders[0]: Invariant Archetype_node_id_valid failed on type FOLDER (expected archetype_node_id not empty, found "")',
    ]);
  });
});

describe('missingCompositionAttributes', () => {
  it('lists all of them', () => {
    expect(missingCompositionAttributes({ _type: 'COMPOSITION', archetype_node_id: '' })).toEqual([
      '/name: Composition missing mandatory attribute: name',
      '/archetype_node_id: Composition missing mandatory attribute: archetype_node_id',
      '/language: Composition missing mandatory attribute: language',
      '/territory: Composition missing mandatory attribute: territory',
      '/category: Composition missing mandatory attribute: category',
      '/composer: Composition missing mandatory attribute: composer',
      '/archetype_details: Composition missing mandatory attribute: archetype details',
      '/archetype_details/template_id: Composition missing mandatory attribute: archetype details/template_id',
    ]);
  });

  it('asks for a template id, not for context and content', () => {
    const bare = edited(edited(minimal, ['context'], undefined), ['content'], undefined);
    expect(missingCompositionAttributes(bare)).toEqual([]);
    expect(
      missingCompositionAttributes(edited(minimal, ['archetype_details', 'template_id'], undefined)),
    ).toEqual([
      '/archetype_details/template_id: Composition missing mandatory attribute: archetype details/template_id',
    ]);
  });
});
