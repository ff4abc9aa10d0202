import { describe, expect, it } from '@jest/globals';
import type { StoredQueryDoc } from '../../../models/definition/stored-query.js';
import type { Change } from '../../../openehr/template/difference/change.js';
import { changedQueries } from '../../../query/changed-queries.js';

const ROOT = 'openEHR-EHR-COMPOSITION.minimal.v1';
const EVALUATION = 'openEHR-EHR-EVALUATION.minimal.v1';
const ITEM = `/content[${EVALUATION}]/data[at0001]/items[at0002]`;

const doc = (q: string): StoredQueryDoc => ({
  _id: 'q/1.0.0',
  name: 'q',
  namespace: null,
  query_name: 'q',
  major: 1,
  minor: 0,
  patch: 0,
  prerelease: null,
  type: 'AQL',
  q,
  saved: new Date(0),
});
const change = (of: Partial<Change> = {}): Change => ({
  path: ITEM,
  kind: 'removed',
  what: 'node',
  verdict: 'breaking',
  from: null,
  to: null,
  reason: '',
  ...of,
});
const pathsOf = (q: string, ...changes: Change[]): readonly string[] =>
  changedQueries([doc(q)], changes, ROOT).flatMap(({ paths }) => paths);

describe('the stored queries that a change of a template concerns', () => {
  it.each([
    [
      'by the archetype',
      `SELECT e/data[at0001]/items[at0002]/value/magnitude FROM EVALUATION e[${EVALUATION}]`,
    ],
    ['without node ids', `SELECT e/data/items/value/magnitude FROM EVALUATION e[${EVALUATION}]`],
    [
      'by the whole path',
      `SELECT c/content[${EVALUATION}]/data[at0001]/items[at0002] FROM COMPOSITION c[${ROOT}]`,
    ],
    ['of any COMPOSITION', `SELECT C/content/data/items/value FROM COMPOSITION c`],
    [
      'in a condition',
      `SELECT e/uid FROM EVALUATION e[${EVALUATION}] WHERE e/data[at0001]/items[at0002]/value/magnitude > $least`,
    ],
    [
      'in an order',
      `SELECT e/uid FROM EVALUATION e[${EVALUATION}] ORDER BY e/data[at0001]/items[at0002]/value/magnitude`,
    ],
    ['in FROM', `SELECT e/uid FROM EVALUATION e[${EVALUATION}] CONTAINS ELEMENT x[at0002]`],
    [
      'in an aggregate',
      `SELECT MAX(e/data[at0001]/items[at0002]/value/magnitude) FROM EVALUATION e[${EVALUATION}]`,
    ],
  ])('%s', (_, q) => {
    expect(pathsOf(q, change())).toEqual([ITEM]);
  });

  it.each([
    ['another node', `SELECT e/data[at0001]/items[at0003]/value FROM EVALUATION e[${EVALUATION}]`],
    ['the whole', `SELECT e FROM EVALUATION e[${EVALUATION}]`],
    [
      'another archetype',
      'SELECT e/data[at0001]/items[at0002] FROM EVALUATION e[openEHR-EHR-EVALUATION.other.v1]',
    ],
    ['another COMPOSITION', 'SELECT c/content FROM COMPOSITION c[openEHR-EHR-COMPOSITION.other.v1]'],
    ['no query', 'SELECT'],
  ])('but not one of %s', (_, q) => {
    expect(pathsOf(q, change())).toEqual([]);
  });

  it.each<[string, Partial<Change>, boolean]>([
    ['values are others', { path: `${ITEM}/value`, kind: 'changed', what: 'units' }, true],
    ['a node moved', { kind: 'moved' }, true],
    ['a node came', { kind: 'added', verdict: 'minor' }, false],
    ['it may be there more often', { kind: 'widened', what: 'occurrences', verdict: 'minor' }, false],
    ['it is called something else', { kind: 'renamed', what: 'name', verdict: 'text' }, false],
    ['it is of the whole', { path: '' }, false],
  ])('where %s', (_, of, isConcerned) => {
    const q = `SELECT e/data[at0001]/items[at0002]/value/magnitude FROM EVALUATION e[${EVALUATION}]`;
    expect(pathsOf(q, change(of))).toEqual(isConcerned ? [change(of).path] : []);
  });
});
