import { describe, expect, it } from '@jest/globals';
import { csvHeader, csvLine } from '../../../routes/query/query-answer.js';

const line = (...cells: readonly unknown[]): string => csvLine(JSON.stringify(cells));

describe('CSV', () => {
  it('quotes separators, quotes and every kind of line end, and nothing else', () => {
    expect(line('a,b', 'q"q', 'a\nb', 'a\rb', 'a\r\nb', ' x ', "x'y")).toBe(
      '"a,b","q""q","a\nb","a\rb","a\r\nb", x ,x\'y\r\n',
    );
  });

  it('shows missing values empty, objects as JSON, numbers and truth values as such', () => {
    expect(line(null, '', -5, 0, 1.5, true, false, { a: '=' }, ['x'])).toBe(
      ',,-5,0,1.5,true,false,"{""a"":""=""}","[""x""]"\r\n',
    );
  });

  it.each(['=1+1', '+1', '-P1D', '@x', '\tx', '＝1', '＋1', '－1', '＠x'])(
    'marks %j as text by an apostrophe',
    (cell) => {
      // A tab separates cells in some sheets, so it stands in quotes.
      const written = cell.includes('\t') ? `"'${cell}"` : `'${cell}`;
      expect(line(cell)).toBe(`${written}\r\n`);
      expect(csvHeader([cell], false)).toBe(`${written}\r\n`);
    },
  );
});
