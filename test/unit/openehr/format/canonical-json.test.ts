import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { readdirSync, readFileSync } from 'node:fs';
import { CdrError } from '../../../../openehr/base/errors.js';
import { parseJson, stringifyCanonical } from '../../../../openehr/format/canonical-json.js';

const FIXTURES = 'test/fixtures/openehr';

function failureOf(text: string): string {
  try {
    parseJson(text);
  } catch (error) {
    if (error instanceof CdrError && error.code === 'invalid') return error.message;
    throw error;
  }
  throw new Error('the text was accepted');
}

describe('parseJson', () => {
  it('gives every JSON value back', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        fc.pre(!text.includes('__proto__') && !/\d{16,}(?![\d.e])/.test(text));
        expect(parseJson(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('reads what JSON.parse reads, and refuses what it refuses', () => {
    const piece = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"',
      ':',
      ',',
      '1',
      '-',
      '.5',
      'e3',
      'true',
      'null',
      '\\',
      'a',
      ' ',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('');
        let expected: unknown;
        const tooLarge: unknown[] = [];
        try {
          expected = JSON.parse(text, (_key, value: unknown) => {
            if (Math.abs(Number(value)) === Infinity) tooLarge.push(value);
            return value;
          });
        } catch {
          failureOf(text);
          return;
        }
        // JSON.parse makes Infinity of 1e311; parseJson refuses what it cannot keep.
        if (tooLarge.length > 0) failureOf(text);
        else expect(parseJson(text)).toEqual(expected);
      }),
      { numRuns: 3000 },
    );
  });

  it.each(['composition', 'flat', 'flat/conformance', 'structured', 'webtemplate'])(
    'reads every file of %s, and refuses those marked invalid',
    (folder) => {
      for (const file of readdirSync(`${FIXTURES}/${folder}`).filter((name) => name.endsWith('.json'))) {
        const text = readFileSync(`${FIXTURES}/${folder}/${file}`, 'utf8');
        if (file.includes('.invalid')) failureOf(text);
        else expect(parseJson(text)).toEqual(JSON.parse(text.replace(/^\ufeff/, '')));
      }
    },
  );

  it('skips a byte order mark', () => {
    expect(parseJson('\ufeff{"a":1}')).toEqual({ a: 1 });
  });

  it.each([
    ['', /the text is empty/],
    ['{"a":1', /position 6 \(line 1, column 7\): expected ',' or '}', found the end/],
    ['{\n "a": tru }', /line 2, column 7/],
    ["{'a':1}", /expected a property name in quotes/],
    ['[1,]', /position 3/],
    ['{"a":1,}', /position 7/],
    ['01', /position 1/],
    ['"a\nb"', /a complete string/],
    ['"\\x"', /unknown escapes/],
    ['1 2', /expected the end of the text/],
    ['{"a" 1}', /expected ':'/],
    [']', /position 0/],
    ['NaN', /expected a value/],
  ])('names the position of what is malformed in %j', (text, message) => {
    expect(failureOf(text)).toMatch(message);
  });

  it('refuses 400,000 nested arrays before parsing them', () => {
    expect(failureOf('['.repeat(400_000) + ']'.repeat(400_000))).toBe(
      'JSON is nested deeper than 150 levels at position 150',
    );
  });

  it('accepts 150 levels', () => {
    expect(parseJson('['.repeat(150) + ']'.repeat(150))).toBeInstanceOf(Array);
  });

  it.each([
    ['arrays', (count: number) => `[${'[],'.repeat(count - 2)}[]]`],
    ['objects', (count: number) => `[${'{ } ,'.repeat(count - 2)}{}]`],
    ['numbers', (count: number) => `[${'-1,'.repeat(count - 2)}0]`],
    ['words', (count: number) => `[${Array(count).fill(['true', 'false', 'null']).flat().join()}]`],
    ['members', (count: number) => `{${Array.from({ length: count - 1 }, (_, i) => `"k${i}":"v"`).join()}}`],
  ])('counts %s as nodes before anything is parsed', (_, textOf) => {
    const nodesOf = (value: unknown): number =>
      typeof value !== 'object' || value === null
        ? 1
        : Object.values(value).reduce((sum: number, member) => sum + nodesOf(member), 1);
    const text = textOf(500);
    const nodes = nodesOf(JSON.parse(text));
    expect(parseJson(text, { maxNodes: nodes })).toEqual(JSON.parse(text));
    expect(() => parseJson(text, { maxNodes: nodes - 1 })).toThrow(
      `the JSON has more than ${nodes - 1} nodes (objects, arrays and values; MAX_BODY_NODES)`,
    );
  });

  it('takes 250,000 nodes unless told otherwise', () => {
    const arrays = (count: number): string => `[${'[],'.repeat(count - 2)}[]]`;
    expect(parseJson(arrays(250_000))).toHaveLength(249_999);
    expect(() => parseJson(arrays(250_001))).toThrow('the JSON has more than 250000 nodes');
  });

  it.each([
    '82.0',
    '1e2',
    '0.1',
    '636.3397240638733',
    '148.01210165023804',
    '148.01210165023805',
    '0.10000000000000001',
    '9007199254740992',
    '-0.0',
    '0e5',
    '1E-7',
    '1.7976931348623157e308',
  ])('takes the number %s', (literal) => {
    expect(parseJson(`{"a":${literal}}`)).toEqual({ a: Number(literal) });
  });

  it.each([
    '9007199254740993',
    '0.12345678901234567890',
    '1e999',
    '-1e400',
    '1e-400',
    '123456789012345678901',
    '9007199254740994',
    '0.100000000000000001',
  ])('refuses the number %s, naming its path', (literal) => {
    expect(failureOf(`{"a":[{"b":1},{"b":${literal}}]}`)).toMatch(
      /^the number at \/a\[1\]\/b cannot be kept/,
    );
  });

  it('leaves digits in strings alone', () => {
    expect(parseJson('{"a":"9007199254740993"}')).toEqual({ a: '9007199254740993' });
  });

  it.each(['{"a":{"__proto__":{"b":1}}}', '{"a":{"\\u005f_proto__":1}}', '{"a":{"_\\u005Fproto__":1}}'])(
    'refuses the key __proto__ in %s',
    (text) => {
      expect(failureOf(text)).toMatch(/__proto__ is not allowed at \/a/);
    },
  );

  it('takes __proto__ as a value', () => {
    expect(parseJson('{"a":"__proto__"}')).toEqual({ a: '__proto__' });
  });

  it('refuses a key given twice with different values, and takes one repeated', () => {
    expect(failureOf('{"x":{"a/b|c":1,"a/b|c":2}}')).toMatch(
      /\/x\/"a\/b\|c" is given twice with different values/,
    );
    expect(parseJson('{"a":[1],"a":[1]}')).toEqual({ a: [1] });
  });

  it('refuses half a surrogate pair, and takes whole ones', () => {
    expect(failureOf('{"a":"\\ud83d"}')).toMatch(/surrogate pair is not allowed at \/a/);
    expect(parseJson('{"a":"\\ud83d\\ude00"}')).toEqual({ a: '😀' });
  });

  it('reads a string of several megabytes', () => {
    const text = `{"a":"${'x'.repeat(8_000_000)}","b":"\\u005f"}`;
    expect(stringifyCanonical(parseJson(text)).length).toBe(8_000_016);
  });
});
