import { describe, expect, it } from '@jest/globals';
import type { JsonObject } from '../../../../../openehr/base/json.js';
import { RM_CLASSES } from '../../../../../openehr/rm/model/classes.js';
import { PRIMITIVE_TYPES } from '../../../../../openehr/rm/model/define.js';
import type { PartialRm, Rm, RmTypeName, RmTypeNameOf } from '../../../../../openehr/rm/model/rm.js';

const TEXT: Rm<'DV_TEXT'> = { _type: 'DV_TEXT', value: 'Pulse' };
const TERMINOLOGY: Rm<'TERMINOLOGY_ID'> = { _type: 'TERMINOLOGY_ID', value: 'local' };

describe('the types of the reference model', () => {
  it('name every attribute with its type and existence', () => {
    const quantity: Rm<'DV_QUANTITY'> = { _type: 'DV_QUANTITY', magnitude: 72, units: '/min' };
    // @ts-expect-error -- units are mandatory
    const withoutUnits: Rm<'DV_QUANTITY'> = { _type: 'DV_QUANTITY', magnitude: 72 };
    // @ts-expect-error -- a magnitude is a number
    const text: Rm<'DV_QUANTITY'> = { _type: 'DV_QUANTITY', magnitude: '72', units: '/min' };
    // @ts-expect-error -- no such attribute
    const misspelt: Rm<'DV_QUANTITY'> = { ...quantity, precison: 1 };
    // @ts-expect-error -- an optional attribute may be missing
    const precision: number = quantity.precision;
    expect([withoutUnits._type, text._type, misspelt._type, precision]).toHaveLength(4);
  });

  it('inherit attributes, and make lists of what is multiple', () => {
    const cluster: Rm<'CLUSTER'> = {
      _type: 'CLUSTER',
      name: TEXT,
      archetype_node_id: 'at0001',
      items: [
        {
          _type: 'ELEMENT',
          name: TEXT,
          archetype_node_id: 'at0002',
          value: { _type: 'DV_COUNT', magnitude: 1 },
        },
      ],
    };
    // @ts-expect-error -- a CLUSTER holds a list
    const single: Rm<'CLUSTER'> = { ...cluster, items: cluster.items[0] };
    // @ts-expect-error -- and of ITEMs only
    const texts: Rm<'CLUSTER'> = { ...cluster, items: [TEXT] };
    expect([single, texts]).toHaveLength(2);
  });

  it('are unions of the classes with instances, told apart by _type', () => {
    const nameOf = (text: Rm<'DV_TEXT'>): string => {
      if (text._type === 'DV_CODED_TEXT') return text.defining_code.code_string;
      // @ts-expect-error -- a DV_TEXT has no code
      return text.defining_code ?? text.value;
    };
    const code: Rm<'CODE_PHRASE'> = {
      _type: 'CODE_PHRASE',
      terminology_id: TERMINOLOGY,
      code_string: 'at0007',
    };
    expect(nameOf({ _type: 'DV_CODED_TEXT', value: 'Pulse', defining_code: code })).toBe('at0007');
    const careEntries: Record<RmTypeNameOf<'CARE_ENTRY'>, true> = {
      OBSERVATION: true,
      EVALUATION: true,
      INSTRUCTION: true,
      ACTION: true,
    };
    // @ts-expect-error -- an abstract class has no instances
    const abstract: RmTypeName = 'ENTRY';
    expect([...Object.keys(careEntries), abstract]).toHaveLength(5);
  });

  it('go down a COMPOSITION, which may lack anything before it is validated', () => {
    const systolic = (composition: PartialRm<'COMPOSITION'>): number | undefined => {
      const entry = composition.content?.[0];
      if (entry?._type !== 'OBSERVATION') return undefined;
      return valueIn(entry.data?.events?.[0]?.data);
    };
    const valueIn = (data: PartialRm<'ITEM_STRUCTURE'> | undefined): number | undefined => {
      const item = data?._type === 'ITEM_TREE' ? data.items?.[0] : undefined;
      return item?._type === 'ELEMENT' && item.value?._type === 'DV_QUANTITY'
        ? item.value.magnitude
        : undefined;
    };
    const territory = (composition: Rm<'COMPOSITION'>): string => composition.territory.code_string;
    // @ts-expect-error -- not validated
    const unsafe = (composition: PartialRm<'COMPOSITION'>): string => composition.territory.code_string;
    expect(systolic({ _type: 'COMPOSITION', content: [{ _type: 'SECTION' }] })).toBeUndefined();
    expect(territory).not.toBe(unsafe);
  });

  it('are JSON, and a valid object is a partial one', () => {
    const json = (composition: Rm<'COMPOSITION'>): JsonObject => composition;
    const partial = (composition: Rm<'COMPOSITION'>): PartialRm<'COMPOSITION'> => composition;
    const partialJson = (composition: PartialRm<'LOCATABLE'>): JsonObject => composition;
    expect(json).not.toBe(partialJson);
    expect(partial).not.toBe(json);
  });

  it('know every type that the table names', () => {
    const known = new Set<string>([...RM_CLASSES.map(({ name }) => name), ...PRIMITIVE_TYPES]);
    const named = RM_CLASSES.flatMap(({ parent, attributes }) => [
      ...(parent === null ? [] : [parent]),
      ...attributes.map(({ type }) => type),
    ]);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});
