import { expect, it } from '@jest/globals';
import { textOfUtf8 } from '../../../../openehr/base/utf8.js';

it.each([
  ['ASCII', Buffer.from('plain'), 'plain'],
  ['more than ASCII', Buffer.from('Müller 😀 \u2028 \ufffd'), 'Müller 😀 \u2028 \ufffd'],
  ['a byte order mark, which is left out', Buffer.from('\uFEFFMüller'), 'Müller'],
  ['nothing', Buffer.alloc(0), ''],
  ['another encoding', Buffer.from('Müller', 'latin1'), null],
  ['a character that ends early', Buffer.from('ü').subarray(0, 1), null],
])('the text of bytes that hold %s', (_name, bytes, text) => {
  expect(textOfUtf8(bytes)).toBe(text);
});
