import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MAX_IDENTITIES, flagsOf } from '../../../change/commit/ehr-flags.js';
import { MAX_CANDIDATE_PATHS, readCandidatePaths } from '../../../merge/candidates/paths.js';
import { candidateScore, isSameIdentifier, type CandidateReason } from '../../../merge/candidates/score.js';
import { loadConfig } from '../../../src/settings/config.js';

const TEXT = 'openEHR-EHR-CLUSTER.telecom.v1/items[at0001]/value/value';

describe('MERGE_CANDIDATE_PATHS', () => {
  it('names leaves of the query index', () => {
    const nested =
      'openEHR-EHR-OBSERVATION.a-b.v1.2.0/data[at0001]/events[at0002]/data[at0003]/items[at0004.1]';
    expect(readCandidatePaths([TEXT, `${nested}/value/id`])).toEqual({
      paths: [
        {
          text: TEXT,
          archetypeId: 'openEHR-EHR-CLUSTER.telecom.v1',
          leafKeys: ['s', 'd', 't'].map(
            (suffix) => `openEHR-EHR-CLUSTER.telecom.v1|/items[at0001]|${suffix}`,
          ),
        },
        {
          text: `${nested}/value/id`,
          archetypeId: 'openEHR-EHR-OBSERVATION.a-b.v1.2.0',
          leafKeys: [nested.replace('/', '|/') + '|i'],
        },
      ],
      problems: [],
    });
  });

  it.each([
    ['phone', 'phone is no path of an ELEMENT'],
    ['c/content[at0001]/value/value', 'is no path of an ELEMENT'],
    ['openEHR-EHR-CLUSTER.telecom.v1/items/value/value', 'is no path of an ELEMENT'],
    [
      'openEHR-EHR-CLUSTER.telecom.v1/items[openEHR-EHR-CLUSTER.x.v1]/items[at0001]/value/value',
      'is no path',
    ],
    [
      'openEHR-EHR-CLUSTER.telecom.v1/items[at0001]/value/units',
      'it must end with one of value/value, value/id',
    ],
    [`${TEXT},${TEXT}`, 'is given twice'],
    [
      Array.from({ length: MAX_CANDIDATE_PATHS + 1 }, (_, n) => TEXT.replace('0001', `1${n}`)).join(','),
      '11 paths are more than 10',
    ],
  ])('is refused at start: %s', (value, problem) => {
    expect(() => loadConfig({ MERGE_CANDIDATE_PATHS: value })).toThrow(
      new RegExp(`MERGE_CANDIDATE_PATHS: .*${problem}`),
    );
  });

  it('needs the values to be indexed', () => {
    expect(loadConfig({ MERGE_CANDIDATE_PATHS: ` ${TEXT} ` }).mergeCandidatePaths).toEqual([TEXT]);
    expect(loadConfig({}).mergeCandidatePaths).toEqual([]);
    for (const AQL_LEAF_INDEX of ['numeric', 'none'])
      expect(() => loadConfig({ MERGE_CANDIDATE_PATHS: TEXT, AQL_LEAF_INDEX })).toThrow(
        `MERGE_CANDIDATE_PATHS needs AQL_LEAF_INDEX=all: with ${AQL_LEAF_INDEX} their values are not indexed`,
      );
  });
});

const reasons = fc.array(
  fc.record<CandidateReason>({
    code: fc.constantFrom('subject_id', 'identifier', 'path'),
    value: fc.string(),
    sharedBy: fc.integer({ min: 2, max: 10 }),
  }),
  { maxLength: 20 },
);

describe('the score of a pair', () => {
  it('is between 0 and 1, grows with reasons, and is less with a contradiction', () => {
    fc.assert(
      fc.property(reasons, reasons, (some, more) => {
        const score = candidateScore(some, false);
        expect(score).toBeGreaterThanOrEqual(0);
        expect(candidateScore([...some, ...more], false)).toBeGreaterThanOrEqual(score);
        expect(candidateScore([...some, ...more], false)).toBeLessThanOrEqual(1);
        expect(candidateScore(some, true)).toBeLessThanOrEqual(score);
      }),
    );
  });

  it('tells identifiers apart by what both say', () => {
    const [mine, same, other] = [{ issuer: 'a' }, { issuer: 'a', type: 't' }, { issuer: 'b' }].map(
      (more) => ({
        key: 'identifier:1',
        ...more,
      }),
    );
    expect([isSameIdentifier(mine!, same!), isSameIdentifier(mine!, other!)]).toEqual([true, false]);
    expect(isSameIdentifier(mine!, { key: 'identifier:1' })).toBe(true);
  });
});

describe('identities of an EHR_STATUS', () => {
  const identifier = (id: unknown): object => ({ _type: 'DV_IDENTIFIER', id });
  const identitiesOf = (items: readonly unknown[]): unknown =>
    flagsOf('x', { other_details: { items } } as never).identities;

  it('are its identifiers, each once, at any depth, none without an id or with one beyond 200 bytes', () => {
    const longest = 'é'.repeat(100);
    const items = [
      identifier(' 1 '),
      { value: { deep: [identifier('1'), identifier(longest)] } },
      identifier(`${longest}x`),
      identifier('  '),
      identifier(5),
      identifier(undefined),
    ];
    expect(identitiesOf(items)).toEqual([{ key: 'identifier:1' }, { key: `identifier:${longest}` }]);
  });

  it('are bounded', () => {
    const many = Array.from({ length: MAX_IDENTITIES + 10 }, (_, n) => identifier(String(n)));
    expect(identitiesOf(many)).toHaveLength(MAX_IDENTITIES);
  });
});
