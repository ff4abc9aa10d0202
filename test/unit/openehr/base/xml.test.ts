import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CdrError } from '../../../../openehr/base/errors.js';
import {
  childElements,
  parseXml,
  textContent,
  writeXml,
  type XmlElement,
  type XmlOut,
} from '../../../../openehr/base/xml.js';
import { fixtureNames, fixtureText } from '../../../support/fixture.js';
import { growth, LINEAR } from '../../../support/growth.js';

function refusal(text: string, limits = {}): CdrError {
  try {
    parseXml(text, limits);
  } catch (error) {
    if (error instanceof CdrError) return error;
    throw error;
  }
  throw new Error('the document was accepted');
}

describe('parseXml', () => {
  it('resolves namespaces of elements and attributes whatever the prefixes', () => {
    const root = parseXml(
      `<?xml version="1.0"?><o:composition xmlns:o="http://schemas.openehr.org/v1" xmlns="urn:other"
        xmlns:i="http://www.w3.org/2001/XMLSchema-instance" xmlns:z="urn:z"
        i:type="o:COMPOSITION" archetype_node_id="at0001" xml:lang="de" z:a="1"><b/><c xmlns=""/></o:composition>`,
    );
    expect(root).toMatchObject({ name: 'composition', namespace: 'http://schemas.openehr.org/v1' });
    expect([...root.attributes]).toEqual([
      ['xsi:type', 'COMPOSITION'],
      ['archetype_node_id', 'at0001'],
      ['xml:lang', 'de'],
      ['{urn:z}a', '1'],
    ]);
    expect(childElements(root).map(({ name, namespace }) => [name, namespace])).toEqual([
      ['b', 'urn:other'],
      ['c', null],
    ]);
  });

  it('compares xsi:type by its local part, whether the prefix is declared or not', () => {
    const xsi = 'xmlns:i="http://www.w3.org/2001/XMLSchema-instance"';
    expect(parseXml(`<a ${xsi} i:type="p:X"/>`).attributes.get('xsi:type')).toBe('X');
  });

  it('joins text, references and CDATA, and leaves comments out', () => {
    const root = parseXml('<a>1 &lt;<!-- no --><![CDATA[<&]]>&#x41;&#10;&amp;amp;</a>');
    expect(root.children).toEqual(['1 <<&A\n&amp;']);
    expect(textContent(root)).toBe('1 <<&A\n&amp;');
  });

  it('keeps blank text where it is the value and drops it between elements', () => {
    expect(parseXml('<a> \n <b>  </b>\t<c/></a>').children).toEqual([
      { name: 'b', namespace: null, attributes: new Map(), children: ['  '] },
      { name: 'c', namespace: null, attributes: new Map(), children: [] },
    ]);
    expect(parseXml('<a> <b/>x</a>').children).toHaveLength(3);
  });

  it('normalises line ends, and white space in attributes', () => {
    const root = parseXml('<a b="1\r\n2\t3&#10;4">x\r\ny\rz</a>');
    expect(root.attributes.get('b')).toBe('1 2 3\n4');
    expect(textContent(root)).toBe('x\ny\nz');
  });

  it('accepts a byte order mark and a declaration', () => {
    expect(parseXml('\ufeff<?xml version="1.0" encoding="UTF-8"?>\n<a/>\n<!-- end -->\n').name).toBe('a');
  });

  it('finds child elements by local name', () => {
    const root = parseXml('<a><b>1</b><c/>t<b>2</b></a>');
    expect(childElements(root, 'b').map(textContent)).toEqual(['1', '2']);
    expect(childElements(root)).toHaveLength(3);
  });

  it.each([
    ['two roots', '<a/><b/>'],
    ['a truncated document', '<a><b>'],
    ['a truncated tag', '<a b="1'],
    ['crossed tags', '<a><b></a></b>'],
    ['a closing tag too many', '<a/></a>'],
    ['text outside the root', 'x<a/>'],
    ['text behind the root', '<a/>x'],
    ['CDATA outside the root', '<![CDATA[x]]><a/>'],
    ['no root', '  '],
    ['an empty text', ''],
    ['a DOCTYPE', '<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>'],
    ['an entity bomb', '<!DOCTYPE a [<!ENTITY x "xx"><!ENTITY y "&x;&x;">]><a>&y;</a>'],
    ['a lone ENTITY', '<!ENTITY x "y"><a/>'],
    ['a processing instruction', '<a><?php x?></a>'],
    ['a second declaration', '<?xml version="1.0"?><?xml version="1.0"?><a/>'],
    ['an undefined entity', '<a>&copy;</a>'],
    ['an entity named like an object property', '<a>&constructor;</a>'],
    ['an undefined entity in an attribute', '<a b="&x;"/>'],
    ['an unfinished reference', '<a>a & b</a>'],
    ['a reference to a forbidden character', '<a>&#0;</a>'],
    ['a reference to half a surrogate pair', '<a>&#xD800;</a>'],
    ['a reference beyond Unicode', '<a>&#x110000;</a>'],
    ['a control character', '<a>\u0001</a>'],
    ['half a surrogate pair', '<a>\ud800</a>'],
    ['duplicate attributes', '<a b="1" b="1"/>'],
    ['duplicate attributes by namespace', '<a xmlns:p="u" xmlns:q="u" p:b="1" q:b="1"/>'],
    ['an attribute that objects cannot hold', '<a __proto__="1"/>'],
    ['an unbound element prefix', '<p:a/>'],
    ['an unbound attribute prefix', '<a p:b="1"/>'],
    ['an unquoted attribute', '<a b=1/>'],
    ['an attribute without value', '<a b/>'],
    ['attributes without a blank between', '<a b="1"c="2"/>'],
    ['a less-than sign in an attribute', '<a b="<"/>'],
    ['two colons in a name', '<a:b:c xmlns:a="u"/>'],
    ['a comment that is not closed', '<a><!-- </a>'],
  ])('refuses %s', (_, text) => {
    expect(refusal(text)).toMatchObject({ code: 'invalid' });
  });

  it.each([
    ['elements', '<b/>', 1],
    ['attributes', '<b c="1" d="2"/>', 3],
    ['comments and CDATA sections', '<!-- c --><![CDATA[d]]>', 2],
  ])('counts %s as nodes before a tree is built', (_, markup, nodesEach) => {
    const document = `<a>${markup.repeat(100)}</a>`;
    const nodes = 1 + 100 * nodesEach;
    expect(parseXml(document, { maxNodes: nodes }).name).toBe('a');
    expect(refusal(document, { maxNodes: nodes - 1 })).toMatchObject({
      code: 'too-large',
      message: `the XML has more than ${nodes - 1} nodes (elements and attributes; MAX_BODY_NODES): send less at a time`,
    });
  });

  it('takes 250,000 nodes unless told otherwise, and 256 attributes of one element', () => {
    const elements = (count: number): string => `<a>${'<b/>'.repeat(count - 1)}</a>`;
    expect(parseXml(elements(250_000)).children).toHaveLength(249_999);
    expect(refusal(elements(250_001)).code).toBe('too-large');
    const attributes = (count: number): string =>
      `<a ${Array.from({ length: count }, (_, i) => `b${i}=""`).join(' ')}/>`;
    expect(parseXml(attributes(256)).attributes.size).toBe(256);
    expect(refusal(attributes(257)).message).toMatch(/more than 256 attributes in one element/);
  });

  it('refuses 100,000 nested elements without overflowing', () => {
    expect(refusal('<a>'.repeat(100_000)).message).toMatch(/more than 200 nested elements/);
    expect(refusal('<a>'.repeat(100_000) + '</a>'.repeat(100_000)).code).toBe('invalid');
  });

  it('allows as many levels and bytes as the limits say', () => {
    const nested = (levels: number): string => '<a>'.repeat(levels) + '</a>'.repeat(levels);
    expect(parseXml(nested(200)).name).toBe('a');
    expect(refusal(nested(201)).code).toBe('invalid');
    expect(parseXml(nested(3), { maxDepth: 3 }).name).toBe('a');
    expect(refusal(nested(4), { maxDepth: 3 }).code).toBe('invalid');
    expect(refusal('<a>ü</a>', { maxBytes: 8 }).code).toBe('too-large');
  });

  it('takes time in proportion to the length', () => {
    const elements = (length: number): void => {
      expect(parseXml(`<a>${'<b>x</b>'.repeat(length)}&amp;</a>`).children).toHaveLength(length + 1);
    };
    expect(growth(elements, 6_000)).toBeLessThan(LINEAR);
    expect(growth((length) => refusal(`<a ${'b ="'.repeat(length)}`), 5_000)).toBeLessThan(LINEAR);
    expect(growth((length) => refusal(`<a${' '.repeat(length)}`), 50_000)).toBeLessThan(LINEAR);
  });

  it('names line and column', () => {
    expect(refusal('<a>\n <b b="1" b="2"/></a>').message).toMatch(/line 2, column 10/);
  });

  it('reads every template and XML composition of the fixtures', () => {
    for (const folder of ['opt', 'xml'])
      for (const file of fixtureNames(folder)) {
        if (file.endsWith('.json') || file.includes('.invalid')) continue;
        const root = parseXml(fixtureText(`${folder}/${file}`));
        expect(childElements(root).length).toBeGreaterThan(0);
      }
  });
});

describe('writeXml', () => {
  it('escapes text and attributes', () => {
    expect(writeXml({ name: 'a', attributes: { b: '<&>"\'\t\n\r' }, children: ['<&>"\'\r\n\t&amp;'] })).toBe(
      '<?xml version="1.0"?>\n' +
        '<a b="&lt;&amp;&gt;&quot;\'&#9;&#10;&#13;">&lt;&amp;&gt;"\'&#13;\n\t&amp;amp;</a>',
    );
  });

  it('writes elements without children as empty elements', () => {
    expect(writeXml({ name: 'a', children: [{ name: 'b', children: [] }, { name: 'c' }] })).toContain(
      '<a><b/><c/></a>',
    );
  });

  it.each(['', '1a', 'a b', 'a>', 'a:b:c', '<script'])('refuses the name %j', (name) => {
    expect(() => writeXml({ name })).toThrow(CdrError);
    expect(() => writeXml({ name: 'a', attributes: { [name]: '' } })).toThrow(CdrError);
  });

  it.each(['\u0000', '\u001f', '\ufffe', '\ud800'])('refuses characters that XML cannot hold: %j', (text) => {
    expect(() => writeXml({ name: 'a', children: [text] })).toThrow(CdrError);
    expect(() => writeXml({ name: 'a', attributes: { b: text } })).toThrow(CdrError);
  });
});

const character = fc.oneof(
  fc.constantFrom(
    '&',
    '<',
    '>',
    '"',
    "'",
    '\r',
    '\n',
    '\t',
    ' ',
    ';',
    '&amp;',
    '&#13;',
    ']]>',
    '<!--',
    'ü',
    '😀',
  ),
  fc
    .string({ minLength: 1, maxLength: 3, unit: 'grapheme' })
    .filter((text) => !/[\p{Cc}\p{Cs}\ufffe\uffff]/u.test(text)),
);
const text = fc.array(character, { minLength: 1, maxLength: 8 }).map((parts) => parts.join(''));
const name = fc.stringMatching(/^[A-Za-z_][\w.-]{0,6}$/).filter((n) => !/^(xmlns|__proto__)$/.test(n));
const tree: fc.Memo<XmlOut> = fc.memo((depth) =>
  fc.record({
    name,
    attributes: fc.dictionary(name, text, { maxKeys: 3, noNullPrototype: true }),
    children:
      depth <= 1
        ? fc.array(text, { maxLength: 1 })
        : fc.oneof(fc.array(tree(), { maxLength: 3 }), fc.array(text, { maxLength: 1 })),
  }),
);

function asOut(element: XmlElement): XmlOut {
  return {
    name: element.name,
    attributes: Object.fromEntries(element.attributes),
    children: element.children.map((child) => (typeof child === 'string' ? child : asOut(child))),
  };
}

describe('parseXml and writeXml', () => {
  it('give back what was written', () => {
    fc.assert(
      fc.property(tree(4), (out) => expect(asOut(parseXml(writeXml(out)))).toEqual(out)),
      { numRuns: 500 },
    );
  });

  it('never throw anything but a CdrError on mutated documents', () => {
    const source = writeXml({
      name: 'a',
      attributes: { b: 'x&y' },
      children: [{ name: 'c', children: ['t<'] }],
    });
    const mutation = fc.tuple(
      fc.nat(source.length),
      fc.nat(5),
      fc.constantFrom('', '<', '>', '&', '"', '</a>', '<!', '<?', ']]>', '\u0000', ':', '='),
    );
    fc.assert(
      fc.property(fc.array(mutation, { minLength: 1, maxLength: 4 }), (mutations) => {
        let mutated = source;
        for (const [at, length, insert] of mutations)
          mutated = mutated.slice(0, at) + insert + mutated.slice(at + length);
        try {
          parseXml(mutated);
        } catch (error) {
          expect(error).toBeInstanceOf(CdrError);
        }
      }),
      { numRuns: 500 },
    );
  });
});
