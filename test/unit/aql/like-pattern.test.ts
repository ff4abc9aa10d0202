import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isLike, likeRegex } from '../../../aql/semantics/like-pattern.js';

/** JavaScript has no atomic groups; a lookahead with a back reference is one. */
function asJavaScript(pcre: string): RegExp {
  let count = 0;
  const open = pcre.replace(
    /\(\?>(\.\*\?(?:\\.|[^()\\])*)\)/gu,
    (_, inner: string) => `(?=(${inner}))\\${++count}`,
  );
  return new RegExp(open.replace(/\\z$/, '$'), 's');
}

describe('LIKE', () => {
  it.each([
    ['abc', 'abc', true],
    ['abc', 'ab', false],
    ['abc', 'a*', true],
    ['abc', '*c', true],
    ['abc', '*b*', true],
    ['abc', '?b?', true],
    ['abc', '????', false],
    ['a*c', 'a\\*c', true],
    ['abc', 'a\\*c', false],
    ['a\\c', 'a\\\\c', true],
    ['', '*', true],
    ['', '', true],
    ['a\nb', 'a*b', true],
    ['😀', '?', true],
    ['aa', 'a*a', true],
    ['a', 'a*a', false],
    ['abab', '*ab', true],
    ['a.c', 'a.c', true],
    ['abc', 'a.c', false],
    ['100%', '100%', true],
    ['ABC', 'abc', false],
  ])('%j LIKE %j is %s', (value, pattern, expected) => {
    expect(isLike(value, pattern)).toBe(expected);
  });

  it.each(['\\', 'a\\b', '100\\%', '*\\'])('refuses %j', (pattern) => {
    expect(() => likeRegex(pattern)).toThrow(`Invalid LIKE pattern: ${pattern}`);
  });

  it('means the same as regular expression', () => {
    const signs = fc.constantFrom('a', 'b', '*', '?', '.', '(', '-');
    fc.assert(
      fc.property(
        fc.array(signs, { maxLength: 8 }),
        fc.array(fc.constantFrom('a', 'b', '.', '('), { maxLength: 10 }),
        (pattern, value) => {
          const [like, text] = [pattern.join(''), value.join('')];
          expect(asJavaScript(likeRegex(like)).test(text)).toBe(isLike(text, like));
        },
      ),
      { numRuns: 2000 },
    );
  });

  it('does not go back for each of many wildcards', () => {
    expect(isLike('a'.repeat(2000), `${'*a'.repeat(500)}*b`)).toBe(false);
  });
});
