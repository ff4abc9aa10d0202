import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CdrError } from '../../../../openehr/base/errors.js';
import type { JsonObject, JsonValue } from '../../../../openehr/base/json.js';
import { parseJson, stringifyCanonical } from '../../../../openehr/format/canonical-json.js';
import { fromXml, toXml } from '../../../../openehr/format/canonical-xml.js';
import { writeFlat } from '../../../../openehr/format/flat/write.js';
import { flatToStructured, structuredToFlat } from '../../../../openehr/format/composition/structured.js';
import { readRm } from '../../../../openehr/rm/read.js';
import { exampleComposition } from '../../../../openehr/template/example/example.js';
import { templateNames } from '../../../support/fixture.js';
import { compositionsOf, mutatedCompositionsOf } from '../../../support/openehr/template-compositions.js';
import { publicTemplate } from '../../../support/openehr/templates.js';
import { findings, read, rewritten } from './flat/support.js';
import { growth, LINEAR } from '../../../support/growth.js';

const NAMES = templateNames();
/** The largest template takes most of the time. */
const runsFor = (name: string, runs: number) => (name === 'Corona_Anamnese' ? Math.ceil(runs / 5) : runs);

/** The work throws nothing but typed errors; gives whether it threw none. */
function succeeds(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch (error) {
    if (error instanceof CdrError) return false;
    throw error;
  }
}

describe.each(NAMES)('compositions of %s', (name) => {
  const template = publicTemplate(name);

  it.each(['required', 'medium', 'complete'] as const)(
    'at detail level %s are valid after FLAT and STRUCTURED',
    (detailLevel) => {
      const example = exampleComposition(template, { detailLevel, type: 'input' });
      const flat = writeFlat(example, template);
      expect(findings(read(flat, template), template)).toEqual([]);
      expect(read(structuredToFlat(flatToStructured(flat)), template)).toEqual(read(flat, template));
    },
  );

  it('are the same after JSON and XML', () => {
    fc.assert(
      fc.property(compositionsOf(template), (composition) => {
        const { object } = readRm(composition, 'COMPOSITION');
        expect(parseJson(stringifyCanonical(composition))).toEqual(composition);
        expect(fromXml(toXml(composition, 'composition'), 'COMPOSITION')).toEqual(object);
      }),
      { numRuns: runsFor(name, 12) },
    );
  });

  it('are stable as FLAT and STRUCTURED', () => {
    fc.assert(
      fc.property(compositionsOf(template), (composition) => {
        const first = writeFlat(composition, template);
        const second = rewritten(first, template);
        expect(second).toMatchObject(first);
        expect(rewritten(second, template)).toEqual(second);
        expect(read(structuredToFlat(flatToStructured(second)), template)).toEqual(read(second, template));
      }),
      { numRuns: runsFor(name, 20) },
    );
  });

  it('that were tampered with are converted or refused, nothing else', () => {
    fc.assert(
      fc.property(mutatedCompositionsOf(template), (composition) => {
        succeeds(() => fromXml(toXml(composition, 'composition'), 'COMPOSITION'));
        const { object } = readRm(composition, 'COMPOSITION');
        if (object !== null) succeeds(() => rewritten(writeFlat(object, template), template));
      }),
      { numRuns: runsFor(name, 30) },
    );
  });

  it('as FLAT with tampered keys are read or refused, nothing else', () => {
    const base = Object.entries(
      writeFlat(exampleComposition(template, { detailLevel: 'complete', type: 'input' }), template),
    );
    fc.assert(
      fc.property(fc.array(keyChanges, { minLength: 1, maxLength: 6 }), (changes) => {
        const entries = [...base];
        for (const change of changes) tamper(entries, change);
        succeeds(() => read(Object.fromEntries(entries), template));
      }),
      { numRuns: runsFor(name, 60) },
    );
  });
});

interface KeyChange {
  readonly place: number;
  readonly cut: number;
  readonly kind: 'segment' | 'suffix' | 'index' | 'value' | 'copy' | 'prefix';
  readonly text: string;
  readonly value: JsonValue;
}

const keyChanges: fc.Arbitrary<KeyChange> = fc.record({
  place: fc.nat(),
  cut: fc.nat({ max: 12 }),
  kind: fc.constantFrom('segment', 'suffix', 'index', 'value', 'copy', 'prefix'),
  text: fc.oneof(
    fc.constantFrom(
      '',
      '/',
      '//',
      '|',
      ':',
      '_uid',
      '_name',
      '_link:1',
      '_mapping',
      '_feeder_audit',
      '_null_flavour',
    ),
    fc.constantFrom(
      'raw',
      'code',
      'value',
      '_type',
      'other',
      'lower',
      'time',
      'width',
      '__proto__',
      'constructor',
    ),
    fc.string({ maxLength: 8 }),
  ),
  value: fc.oneof(
    fc.constantFrom<JsonValue>(
      'now',
      '{"_type":"DV_TEXT"}',
      '{"@class":"ELEMENT"}',
      '253',
      'P1D',
      '2020',
      true,
      -1,
      1e21,
    ),
    fc.jsonValue() as fc.Arbitrary<JsonValue>,
  ),
});

function tamper(entries: [string, JsonValue][], { place, cut, kind, text, value }: KeyChange): void {
  const position = place % entries.length;
  const [key, before] = entries[position]!;
  const segments = key.split('/');
  const at = cut % segments.length;
  const path = key.replace(/\|.*$/, '');
  if (kind === 'segment') segments.splice(at, 1, text);
  if (kind === 'index') segments[at] = `${segments[at]!.replace(/:\d+$/, '')}:${text.length * cut}`;
  if (kind === 'prefix') segments.splice(at + 1);
  const changed = { suffix: `${path}|${text}`, copy: `${path}/${text}`, value: key };
  const name = kind === 'suffix' || kind === 'copy' || kind === 'value' ? changed[kind] : segments.join('/');
  const entry: [string, JsonValue] = [name, kind === 'value' || kind === 'suffix' ? value : before];
  if (kind === 'copy') entries.push(entry);
  else entries[position] = entry;
}

describe('bodies', () => {
  it('of XML with characters changed are read or refused, nothing else', () => {
    const example = exampleComposition(publicTemplate('nested.en.v1'), {
      detailLevel: 'complete',
      type: 'input',
    });
    const xml = toXml(example, 'composition');
    const piece = fc.constantFrom(
      '',
      '<',
      '>',
      '&',
      '"',
      '</',
      '/>',
      'x',
      ' ',
      'xsi:type="',
      '<!--',
      ']]>',
      '&#0;',
      ':',
    );
    fc.assert(
      fc.property(fc.nat({ max: xml.length }), fc.nat({ max: 12 }), piece, (start, length, text) => {
        succeeds(() => fromXml(xml.slice(0, start) + text + xml.slice(start + length), 'COMPOSITION'));
      }),
      { numRuns: 600 },
    );
  });

  it('of FLAT with tens of thousands of keys or segments are answered in time that grows with their number', () => {
    const template = publicTemplate('nested.en.v1');
    const many = (keys: number): void => {
      const flat: JsonObject = {};
      for (let i = 0; i < keys; i++) flat[`nesting/nested:${i % 10_000}/x${i}`] = i;
      expect(succeeds(() => read(flat, template))).toBe(false);
    };
    const deep = (segments: number): void => {
      const flat = {
        [`nesting${'/nested:9999'.repeat(segments)}`]: 1,
        [`${'a'.repeat(10 * segments)}|b`]: 1,
      };
      expect(succeeds(() => read(flat, template))).toBe(false);
    };
    expect(growth(many, 6_000)).toBeLessThan(LINEAR);
    expect(growth(deep, 12_000)).toBeLessThan(LINEAR);
  });
});
