import { describe, expect, it } from '@jest/globals';
import { readdirSync } from 'node:fs';
import type { JsonObject } from '../../../../../openehr/base/json.js';
import { parseJson } from '../../../../../openehr/format/canonical-json.js';
import { flatToStructured, structuredToFlat } from '../../../../../openehr/format/composition/structured.js';
import { writeFlat } from '../../../../../openehr/format/flat/write.js';
import { readRm } from '../../../../../openehr/rm/read.js';
import { fixtureText } from '../../../../support/fixture.js';
import { findings, NOW_TEXT, read, refusal, rewritten, templateOfFile } from './support.js';

const ROOT = 'test/fixtures/openehr';
const FLAT_FILES = ['', 'conformance/'].flatMap((folder) =>
  readdirSync(`${ROOT}/flat/${folder}`)
    .filter((name) => name.endsWith('.json'))
    .map((name) => folder + name),
);
const INVALID = FLAT_FILES.filter((name) => name.includes('.invalid'));
const VALID = FLAT_FILES.filter((name) => !name.includes('.invalid'));
const COMPOSITIONS = readdirSync(`${ROOT}/composition`).filter((name) => !name.includes('.invalid'));

/** Findings that a file has by itself. */
const KNOWN_FINDINGS: Readonly<Record<string, readonly RegExp[]>> = {
  'test_all_types.en.v1.json': [/The value 2019-01-14 must be yyyy-\?\?-XX/],
};
/** Keys that are read and written under another name, or are answered more exactly. */
const OTHER_SPELLINGS: readonly (readonly [RegExp, string | null])[] = [
  [/\/ordinal\|terminology_id$/, null],
  [/\/timing\|value$/, '/timing'],
  [/\/identifier$/, '/identifier|id'],
  [/\/minimal_2\/proportion$/, null],
];
/** What is filled in where a file leaves it out. */
const DEFAULTS = [
  /\/context\/(?:start_time|setting\|(?:code|value|terminology))$/,
  /\/action_archetype_id$/,
  /\/ism_transition\/current_state\|(?:code|value|terminology)$/,
  /\/(?:language|encoding)\|(?:code|terminology)$/,
  /\/timing(?:\|formalism)?$/,
];

function flatOf(file: string): JsonObject {
  return parseJson(fixtureText(`flat/${file}`)) as JsonObject;
}

function withoutZeros(flat: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(flat).map(([key, value]) => [key.replace(/:0(?=[/|]|$)/g, ''), value]),
  );
}

describe('FLAT files', () => {
  it.each(INVALID)('%s is refused', (file) => {
    expect(() => flatOf(file)).toThrow(/malformed JSON/);
  });

  it.each(VALID)('%s gives a valid composition', (file) => {
    const template = templateOfFile(file);
    const unknown = findings(read(flatOf(file), template), template).filter(
      (finding) => !(KNOWN_FINDINGS[file] ?? []).some((known) => known.test(finding)),
    );
    expect(unknown).toEqual([]);
  });

  it.each(VALID.filter((file) => !/raw|ctx/.test(file)))(
    '%s comes back with the same keys and values',
    (file) => {
      const flat = withoutZeros(flatOf(file));
      const written = withoutZeros(rewritten(flatOf(file), templateOfFile(file)));
      for (const [key, value] of Object.entries(flat)) {
        const other = OTHER_SPELLINGS.find(
          ([pattern]) => pattern.test(key) && (!(key in written) || key.endsWith('/proportion')),
        );
        if (key.startsWith('ctx/') && key !== 'ctx/composer_self') continue;
        if (other === undefined) expect([key, written[key]]).toEqual([key, value]);
        else if (other[1] !== null) expect(written[key.replace(other[0], other[1])]).toEqual(value);
      }
      const isLikeGiven = (key: string) =>
        key in flat || OTHER_SPELLINGS.some(([, spelling]) => spelling !== null && key.endsWith(spelling));
      const hasContextKeys = Object.keys(flat).some(
        (key) => key.startsWith('ctx/') && key !== 'ctx/composer_self',
      );
      const added = Object.keys(written).filter(
        (key) => !isLikeGiven(key) && !DEFAULTS.some((known) => known.test(key)),
      );
      if (!hasContextKeys) expect(added).toEqual([]);
    },
  );

  it.each(VALID)('%s is stable once written', (file) => {
    const template = templateOfFile(file);
    const once = rewritten(flatOf(file), template);
    expect(rewritten(once, template)).toEqual(once);
  });

  it.each(VALID)('%s means the same as STRUCTURED', (file) => {
    const template = templateOfFile(file);
    const structured = flatToStructured(flatOf(file));
    expect(read(structuredToFlat(structured), template)).toEqual(read(flatOf(file), template));
  });
});

describe('FLAT cases of validation-cases.json', () => {
  interface FlatCase {
    readonly flat: string;
    readonly template: string;
    readonly set: JsonObject;
    readonly status: number;
    readonly message?: string;
    readonly warning?: string;
  }
  const { cases } = parseJson(fixtureText('validation-cases.json')) as unknown as {
    cases: Partial<FlatCase>[];
  };
  const flatCases = cases.filter((one): one is FlatCase => one.flat !== undefined && one.status !== 422);

  it.each(flatCases)('$flat with $set is answered $status', ({ flat, template, set, status, message }) => {
    const body = { ...flatOf(flat), ...set };
    const compiled = templateOfFile(template);
    if (status === 201) expect(findings(read(body, compiled), compiled)).toEqual([]);
    else expect(refusal(body, compiled)).toContain(message);
  });
});

describe('STRUCTURED files', () => {
  it.each(['nested.en.v1', 'Corona_Anamnese'])('%s comes back with the same keys and values', (name) => {
    const structured = parseJson(fixtureText(`structured/${name}.json`)) as JsonObject;
    const template = templateOfFile(name);
    const flat = structuredToFlat(structured);
    expect(findings(read(flat, template), template)).toEqual([]);
    const back = structuredToFlat(flatToStructured(rewritten(flat, template)));
    const expected = Object.entries(flat).filter(([key]) => !key.endsWith('|terminology_id'));
    expect(back).toMatchObject(Object.fromEntries(expected));
  });

  it('that are malformed are refused', () => {
    expect(() => parseJson(fixtureText('structured/nested.en.v1.invalid.json'))).toThrow(/malformed JSON/);
  });
});

describe('canonical files', () => {
  it.each(COMPOSITIONS)('%s is stable as FLAT, and stays as valid as it was', (file) => {
    const template = templateOfFile(file);
    const { object } = readRm(parseJson(fixtureText(`composition/${file}`)), 'COMPOSITION');
    if (object === null) {
      // Holds an attribute at a place where the RM has none.
      expect(file).toBe('test_all_types.en.v1.feeder-audit.json');
      return;
    }
    const first = writeFlat(object, template);
    const composition = read(first, template);
    const second = writeFlat(composition, template);
    expect(second).toMatchObject(first);
    expect(rewritten(second, template)).toEqual(second);
    const added = Object.keys(second).filter((key) => !(key in first));
    expect(added.filter((key) => !DEFAULTS.some((known) => known.test(key)))).toEqual([]);
    const before = findings(object, template);
    if (before.length === 0) expect(findings(composition, template)).toEqual([]);
  });

  it('without context get one, now', () => {
    const template = templateOfFile('persistent_minimal.en.v1.json');
    const { object } = readRm(
      parseJson(fixtureText('composition/persistent_minimal.en.v1.json')),
      'COMPOSITION',
    );
    const flat = writeFlat(object!, template);
    expect(flat['persistent_minimal/context/start_time']).toBeUndefined();
    expect(rewritten(flat, template)['persistent_minimal/context/start_time']).toBe(NOW_TEXT);
  });
});
