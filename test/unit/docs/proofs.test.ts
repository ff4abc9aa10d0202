import { readdirSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { textOf } from './repository-text.js';

/** Every file of tests, from the root. */
const TESTS = new Set([...below('test/'), ...below('packages/')]);
const TEST_FILE = /[\w./-]+\.test\.ts/g;

function below(folder: string): string[] {
  return readdirSync(new URL(`../../../${folder}`, import.meta.url), { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : below(`${folder}${entry.name}/`);
    return entry.name.endsWith('.test.ts') ? [`${folder}${entry.name}`] : [];
  });
}

/** Rows of the table below a heading of a page, cell by cell; heading and rule of the table left out. */
function rowsOf(page: string, heading: string): string[][] {
  const [, section = ''] = `\n${textOf(page)}`.split(`\n${heading}\n`);
  const [text = ''] = section.split(/\n#+ /);
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) => line.split('|').slice(1, -1));
}

const testsIn = (text: string): string[] => text.match(TEST_FILE) ?? [];

const CHAPTERS = Array.from({ length: 14 }, (_, index) => `V${index + 1}`);

const PROVED: readonly (readonly [string, string, column: number])[] = [
  ['docs/asvs.md', '# OWASP ASVS 4.0, level 2', 1],
  ['docs/security.md', '## Threats and answers', 3],
  ['docs/reliability.md', '# What is promised of the record, and what shows it', 1],
  ['docs/reliability.md', '## Defects of the release before, and their tests', 1],
];

describe.each(PROVED)('what %s claims below %s', (page, heading, column) => {
  const rows = rowsOf(page, heading);

  it('is a table', () => {
    expect(rows.length).toBeGreaterThan(10);
  });

  it('is shown by a test in every row', () => {
    expect(rows.filter((cells) => testsIn(cells[column] ?? '').length === 0)).toEqual([]);
  });

  it('is shown by tests that exist, each by its whole path', () => {
    const named = rows.flatMap((cells) => testsIn(cells.join(' ')));
    expect(named.filter((file) => !TESTS.has(file))).toEqual([]);
  });
});

/** Where a page names a test it says file and title: `file › title`. */
const NAMED = /`([\w./-]+\.test\.ts)(?: › ([^`]+))?`/g;

describe.each(PROVED.slice(0, 3))('each test that %s names below %s', (page, heading) => {
  const named = rowsOf(page, heading).flatMap((cells) =>
    [...cells.join(' ').matchAll(NAMED)].map(([, file = '', title = '']) => ({ file, title })),
  );

  it('is named by its title', () => {
    expect(named.length).toBeGreaterThan(10);
    expect(named.filter(({ title }) => title === '')).toEqual([]);
  });

  it('stands in its file as the title of a test, or of several', () => {
    expect(named.filter(({ file, title }) => !titlesIn(file).has(title))).toEqual([]);
  });
});

/**
 * The titles of a file: the text that is the first argument of `describe`, `it` or `test`, of its `each` too, and of an `it` that runs
 * as somebody (`asRoot`). What stands in
 * parentheses at the end of a title that is made, as the number of draws, is left out.
 */
function titlesIn(file: string): ReadonlySet<string> {
  const text = textOf(file);
  const calls = /\b(?:describe|it|test|as[A-Z]\w*)\(\s*(['"`])(.+?)\1,|\)\(\s*(['"`])(.+?)\3,/g;
  const titles = [...text.matchAll(calls)].map((found) => found[2] ?? found[4] ?? '');
  return new Set(titles.map((title) => title.replace(/ \(\$\{draws[^)]*\)[^)]*\)$/, '')));
}

describe('the table of laws at full size', () => {
  const rows = rowsOf('docs/reliability.md', '## The laws at full size');
  const laws = rows.map(([name = '', size = '']) => ({ file: testsIn(name)[0] ?? '', size }));

  it('has each law once', () => {
    const files = [...TESTS].filter((file) => file.endsWith('.law.test.ts'));
    expect(laws.map(({ file }) => file).sort()).toEqual(files.sort());
  });

  it('says the sizes of their files', () => {
    const saysAnother = laws.filter(({ file, size }) => {
      const sizes = [...textOf(file).matchAll(/\bfull: ([\d_]+)/g)].map(([, digits = '']) => digits.replaceAll('_', ','));
      return [...new Set(sizes)].some((one) => !size.split(' ').includes(one));
    });
    expect(saysAnother).toEqual([]);
  });
});

it('a backup that is openEHR data says what of merges is not in it', () => {
  const [, backup = ''] = textOf('docs/operations.md').split('\n## Back up and restore\n');
  const [, left = ''] = backup.split('\n## ')[0]!.split('**not in it**');
  for (const what of ['merge records', 'archives', 'tombstones', 'reservations']) expect(left).toContain(what);
});

it('docs/asvs.md has each chapter once', () => {
  const [page, heading] = PROVED[0]!;
  const chapters = rowsOf(page, heading).map(([name = '']) => name.trim().split(' ')[0]);
  expect(chapters).toEqual(CHAPTERS);
});

it('whether servers of the release before may go on beside new ones is left to the page of the release', () => {
  const [, upgrade = ''] = textOf('docs/operations.md').split('\n## Upgrade\n');
  const [steps = ''] = upgrade.split('\n## ');
  expect(steps).not.toMatch(/work on one database/);
  expect(steps).toContain('where it says so, stop every old server first');
  expect(textOf('UPDATING.md')).toContain('Stop every server of an older release before the first of this one');
});
