import { describe, expect, it } from '@jest/globals';
import {
  attributesOf,
  concreteClasses,
  isKindOf,
  isLocatable,
  isPrimitive,
  rmClass,
  RM_CLASSES,
} from '../../../../../openehr/rm/model/classes.js';
import { fixtureText } from '../../../../support/fixture.js';

interface XmlType {
  readonly base: string | null;
  readonly abstract: boolean;
  readonly elements: readonly { name: string; type: string; min: number; max: number }[];
}

const xmlTypes = (JSON.parse(fixtureText('xml/rm-xml-types.json')) as { types: Record<string, XmlType> })
  .types;

const PRIMITIVE_OF: Record<string, string[]> = {
  String: ['xs:string', 'NonEmptyString', 'NonEmptyToken', 'magnitudeStatus'],
  Character: ['matchString'],
  Boolean: ['xs:boolean'],
  Integer: ['xs:int', 'PROPORTION_KIND'],
  Integer64: ['xs:long'],
  Real: ['xs:float'],
  Base64: ['xs:base64Binary'],
  Uri: ['NonEmptyUri'],
  Iso8601_date: ['Iso8601Date'],
  Iso8601_time: ['Iso8601Time'],
  Iso8601_date_time: ['Iso8601DateTime'],
  Iso8601_duration: ['Iso8601Duration'],
  LOCATABLE: ['xs:anyType'],
};

/** Where the schema is looser or stricter than the RM, or than what this service keeps. */
const DIFFERENT_EXISTENCE = ['ELEMENT.value', 'ELEMENT.null_flavour', 'DV_URI.value', 'EHR.ehr_access'];

/** Not part of what an EHR holds. */
const LEFT_OUT =
  /^(Interval|Multiplicity|StringDictionary|TERMINOLOGY_CODE|ADDRESSED_MESSAGE|MESSAGE|SYNC_|GENERIC_CONTENT_ITEM|OPENEHR_CONTENT_ITEM|X_|EXTRACT)/;

/** Attributes that no published schema has and that is written all the same. */
const BESIDE_THE_SCHEMA = ['EVALUATION.time_asserted'];

describe('the RM class table', () => {
  it('has every class of the published XML schema that an EHR can hold', () => {
    const missing = Object.keys(xmlTypes).filter((name) => !LEFT_OUT.test(name) && !rmClass(name));
    expect(missing).toEqual([]);
  });

  it.each(RM_CLASSES.filter(({ name }) => xmlTypes[name] !== undefined).map(({ name }) => name))(
    'lists the attributes of %s in schema order with type and occurrence',
    (name) => {
      const own = rmClass(name)!;
      const schema = xmlTypes[name]!;
      expect(own.abstract).toBe(schema.abstract);
      if (own.parent !== 'PATHABLE') expect(own.parent).toBe(schema.base);
      const elements = own.attributes.filter(
        (attribute) => !attribute.xmlAttribute && !BESIDE_THE_SCHEMA.includes(`${name}.${attribute.name}`),
      );
      expect(elements.map((attribute) => attribute.name)).toEqual(schema.elements.map(({ name: n }) => n));
      for (const [i, attribute] of elements.entries()) {
        const element = schema.elements[i]!;
        expect([attribute.type, ...(PRIMITIVE_OF[attribute.type] ?? [])]).toContain(element.type);
        expect(attribute.multiple).toBe(element.max !== 1);
        if (!DIFFERENT_EXISTENCE.includes(`${name}.${attribute.name}`))
          expect({ [attribute.name]: attribute.required }).toEqual({ [attribute.name]: element.min > 0 });
      }
    },
  );

  it('names only types that it has', () => {
    const types = RM_CLASSES.flatMap(({ attributes }) => attributes.map(({ type }) => type));
    expect(types.filter((type) => !isPrimitive(type) && rmClass(type) === undefined)).toEqual([]);
  });

  it('has each class once and no attribute that hides an inherited one', () => {
    expect(new Set(RM_CLASSES.map(({ name }) => name)).size).toBe(RM_CLASSES.length);
    for (const { name, parent, attributes } of RM_CLASSES)
      for (const attribute of attributes)
        if (parent !== null) expect([name, attributesOf(parent).has(attribute.name)]).toEqual([name, false]);
  });

  it('gives inherited attributes first', () => {
    expect([...attributesOf('EVALUATION').keys()]).toEqual([
      'archetype_node_id',
      'name',
      'uid',
      'links',
      'archetype_details',
      'feeder_audit',
      'language',
      'encoding',
      'subject',
      'provider',
      'other_participations',
      'workflow_id',
      'protocol',
      'guideline_id',
      'data',
      'time_asserted',
    ]);
  });

  it('knows kinds, concrete classes and locatables, with or without generic parameters', () => {
    expect(isKindOf('DV_CODED_TEXT', 'DV_TEXT')).toBe(true);
    expect(isKindOf('DV_TEXT', 'DV_CODED_TEXT')).toBe(false);
    expect(isKindOf('DV_INTERVAL<DV_COUNT>', 'DATA_VALUE')).toBe(true);
    expect(isKindOf('constructor', 'Object')).toBe(false);
    expect(concreteClasses('ITEM_STRUCTURE')).toEqual([
      'ITEM_SINGLE',
      'ITEM_LIST',
      'ITEM_TABLE',
      'ITEM_TREE',
    ]);
    expect(concreteClasses('EVENT')).toEqual(['POINT_EVENT', 'INTERVAL_EVENT']);
    expect(concreteClasses('DV_TEXT')).toEqual(['DV_TEXT', 'DV_CODED_TEXT']);
    expect(rmClass('DV_INTERVAL<DV_QUANTITY>')?.name).toBe('DV_INTERVAL');
    expect(rmClass('__proto__')).toBeUndefined();
    expect(isLocatable('ELEMENT')).toBe(true);
    expect(isLocatable('EVENT_CONTEXT')).toBe(false);
    expect(attributesOf('NOTHING').size).toBe(0);
  });
});
