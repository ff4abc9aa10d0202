import { existsSync } from 'node:fs';
import { posix } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { anchorsOf, repositoryTexts, type RepositoryText } from './repository-text.js';

const texts = repositoryTexts();
const pages = new Map(
  texts.filter(({ path }) => path.endsWith('.md')).map(({ path, text }) => [path, anchorsOf(text)]),
);
/** This file names what it looks for. */
const cited = texts.filter(({ path }) => path !== 'test/unit/docs/citations.test.ts');

/** Where something stands, for a failure that can be clicked. */
function located({ path, text }: RepositoryText, index: number, what: string): string {
  return `${path}:${text.slice(0, index).split('\n').length} ${what}`;
}

/** All places at which a pattern stands in comments and pages. */
function placesOf(pattern: RegExp): string[] {
  return cited.flatMap((file) =>
    [...commentsOf(file).matchAll(pattern)].map(({ index, 0: what }) => located(file, index, what)),
  );
}

/** The text with everything but comments blanked out; of pages all of it. */
function commentsOf({ path, text }: RepositoryText): string {
  if (!/\.(?:ts|mjs|cjs)$/.test(path)) return text;
  return text
    .split('\n')
    .map((line) => (/^\s*(?:\/\*\*|\*|\/\/)/.test(line) ? line : ' '.repeat(line.length)))
    .join('\n');
}

function isThere(page: string, anchor: string | undefined): boolean {
  const anchors = pages.get(page);
  if (anchors === undefined) return anchor === undefined && existsSync(page);
  return anchor === undefined || anchors.has(anchor);
}

describe('citations', () => {
  it('from sources lead to a heading of a page', () => {
    const citation = /\bdocs\/[\w./-]+?\.md(?:#([\w-]+))?/g;
    const broken = cited.flatMap((file) =>
      [...file.text.matchAll(citation)]
        .filter(([whole, anchor]) => !isThere(whole.replace(/#.*/, ''), anchor))
        .map(({ index, 0: whole }) => located(file, index, whole)),
    );
    expect(broken).toEqual([]);
  });

  it('of the contract by sources name an anchor', () => {
    const whole = /\bdocs\/spec\/\w+\.md(?![#\w])/g;
    const sources = cited.filter(({ path }) => !path.endsWith('.md'));
    expect(
      sources.flatMap((file) => [...file.text.matchAll(whole)].map(({ index }) => located(file, index, ''))),
    ).toEqual([]);
  });

  it('between pages lead to a file, and to a heading of it', () => {
    const link = /\]\((?!https?:|mailto:)([^)#\s]*)(?:#([\w-]+))?\)/g;
    const broken = cited
      .filter(({ path }) => path.endsWith('.md'))
      .flatMap((file) =>
        [...file.text.matchAll(link)]
          .filter(([, target = '', anchor]) => {
            const path = target === '' ? file.path : posix.join(posix.dirname(file.path), target);
            return anchor === undefined ? !existsSync(path) : !isThere(path, anchor);
          })
          .map(({ index, 0: whole }) => located(file, index, whole)),
      );
    expect(broken).toEqual([]);
  });

  it('of sources and tests by pages lead to a file', () => {
    const path = /`((?:test|src|aql|models|routes|openehr|change|merge|maintenance|query|database)\/[\w./-]+\.\w+)`/g;
    const broken = cited
      .filter((file) => file.path.startsWith('docs/') && !file.path.startsWith('docs/decisions/'))
      .flatMap((file) =>
        [...file.text.matchAll(path)]
          .filter(([, target = '']) => !existsSync(target))
          .map(({ index, 0: whole }) => located(file, index, whole)),
      );
    expect(broken).toEqual([]);
  });

  it.each([
    ['numbers of sections of a page', /(?<!(?:RFC \d+|Core|\d\.\d|SEMVER [\d.]+),? )\bsections? \d+(?:\.\d+)*\b/gi],
    ['the contract by number', /\bcontract,? section/gi],
    ['the AQL page', /\bAQL page\b|\baql\.md \d|\baql grammar, section/gi],
    ['pages that are not here', /templates-and-formats|\brest-api\b|peer-behaviours|\barchitecture (?:page|section)/gi],
    ['sections in brackets', /(?<=\s)\(\d\.\d(?: (?:rules?|and|to)[^)]*)?\)/g],
    ['rulings', /(?:\(|, |\bruling )[RD]\d{1,2}\b/g],
  ])('are none of the old kinds: %s', (_kind, pattern) => {
    expect(placesOf(pattern)).toEqual([]);
  });
});

describe('anchors', () => {
  it('are made as GitHub makes them', () => {
    const anchors = anchorsOf('# AND, OR and NOT\n\n```\n# no heading\n```\n\n## EHR_STATUS\n\n## EHR_STATUS\n');
    expect([...anchors]).toEqual(['and-or-and-not', 'ehr_status', 'ehr_status-1']);
  });

  it('of the contract come from headings that differ', () => {
    const contract = [...pages].filter(([path]) => path.startsWith('docs/spec/'));
    expect(contract.length).toBe(7);
    expect(contract.flatMap(([, anchors]) => [...anchors].filter((anchor) => /-\d+$/.test(anchor)))).toEqual([]);
  });
});
