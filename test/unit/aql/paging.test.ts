import { describe, expect, it } from '@jest/globals';
import { executedAql } from '../../../aql/result/executed.js';
import { pageOf, type Page } from '../../../aql/semantics/page.js';
import { boundQuery } from '../../support/aql/bound-query.js';

const NONE = { defaultFetch: null, maxFetch: null };
const page = (
  rest: string,
  fetch: number | null,
  offset: number | null,
  limits = NONE as Parameters<typeof pageOf>[2],
): Page =>
  pageOf(
    boundQuery(rest.startsWith('TOP') ? `SELECT ${rest} e FROM EHR e` : `SELECT e FROM EHR e ${rest}`),
    { fetch, offset },
    limits,
  );

describe('paging', () => {
  it('tells fetch and offset only when a limit applies', () => {
    expect(page('', null, null).meta).toBeNull();
    expect(page('', null, 3)).toMatchObject({
      limit: null,
      offset: 3,
      meta: null,
      appended: { limit: null, offset: 3 },
    });
    expect(page('LIMIT 1', null, null)).toMatchObject({
      limit: 1,
      meta: { fetch: 1, offset: 0 },
      appended: null,
    });
    expect(page('', 5, null)).toMatchObject({
      limit: 5,
      meta: { fetch: 5, offset: 0 },
      appended: { limit: 5, offset: 0 },
    });
    expect(page('', null, null, { defaultFetch: 7, maxFetch: 9 })).toMatchObject({
      limit: 7,
      meta: { fetch: 7, offset: 0 },
    });
    expect(page('OFFSET 2', null, null, { defaultFetch: null, maxFetch: 9 })).toMatchObject({
      limit: 9,
      offset: 2,
    });
    expect(page('TOP 3 BACKWARD', null, 1)).toMatchObject({
      top: { count: 3, backward: true },
      offset: 1,
      limit: null,
      meta: { fetch: 3, offset: 1 },
    });
  });

  it.each([
    ['LIMIT 1', 1, null, 'unprocessable'],
    ['LIMIT 1', null, 0, 'unprocessable'],
    ['OFFSET 1', null, 0, 'unprocessable'],
    ['TOP 1', 1, null, 'invalid'],
    ['', 0, null, 'invalid'],
    ['', 1.5, null, 'invalid'],
    ['', null, -1, 'invalid'],
  ])('refuses %s with fetch %s, offset %s as %s', (rest, fetch, offset, code) => {
    expect(() => page(rest, fetch, offset)).toThrow(expect.objectContaining({ code }));
  });

  it.each([
    ['LIMIT 5', null],
    ['TOP 5', null],
    ['', 5],
  ])('refuses more than the cap: %s, fetch %s', (rest, fetch) => {
    expect(() => page(rest, fetch, null, { defaultFetch: null, maxFetch: 4 })).toThrow(
      expect.objectContaining({ code: 'invalid' }),
    );
  });
});

describe('_executed_aql', () => {
  const executed = (aql: string, fetch: number | null = null): string => {
    const query = boundQuery(aql);
    return executedAql(query, pageOf(query, { fetch, offset: null }, NONE));
  };

  it.each([
    [
      "SELECT c FROM EHR e CONTAINS COMPOSITION c WHERE e/ehr_id/value = 'x'",
      "SELECT c FROM EHR e[ehr_id/value='x'] CONTAINS COMPOSITION c",
    ],
    [
      "SELECT c FROM EHR e CONTAINS COMPOSITION c[openEHR-EHR-COMPOSITION.a.v1] WHERE c/uid/value = 'u' AND E/ehr_id/value='x' AND c/name/value = 'n'",
      "SELECT c FROM EHR e[ehr_id/value='x'] CONTAINS COMPOSITION c[openEHR-EHR-COMPOSITION.a.v1 and uid/value='u'] WHERE c/name/value = 'n'",
    ],
    [
      "SELECT e FROM EHR e WHERE e/ehr_id/value = 'x' OR e/ehr_id/value = 'y'",
      "SELECT e FROM EHR e WHERE e/ehr_id/value = 'x' OR e/ehr_id/value = 'y'",
    ],
    ["SELECT e FROM EHR e WHERE e/ehr_id/value != 'x'", "SELECT e FROM EHR e WHERE e/ehr_id/value != 'x'"],
    [
      "SELECT c FROM EHR e CONTAINS (COMPOSITION c OR EHR_STATUS s) WHERE c/uid/value = 'u'",
      "SELECT c FROM EHR e CONTAINS (COMPOSITION c OR EHR_STATUS s) WHERE c/uid/value = 'u'",
    ],
  ])('of %s', (aql, expected) => {
    expect(executed(aql)).toBe(expected);
  });

  it('appends the page of the request', () => {
    expect(executed('SELECT e FROM EHR e', 5)).toBe('SELECT e FROM EHR e LIMIT 5 OFFSET 0');
  });
});
